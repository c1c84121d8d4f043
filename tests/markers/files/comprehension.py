"""A comprehension is told by what it made; its filter and its turns are not."""

import torch


# torchlens: rows(torch.tensor([[1.0, 1.0], [-1.0, 0.0], [2.0, 2.0]]))
def rows(x):
#   ^ hint x f32[3, 2]
    kept = [row * 2 for row in x if row.sum() > 0]
    #      ^ hint 2×[2]
    named = {f"r{i}": row for i, row in enumerate(kept)}
    #       ^ hint {r0: [2], r1: [2]}
    total = sum(row.sum() for row in kept)
    #       ^ hint []
    return total + len(named)
    #      ^ hint []
