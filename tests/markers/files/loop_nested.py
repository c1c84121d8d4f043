"""A loop that ran with differing counts tells its first, and how many further ones there were."""

import torch


# torchlens: triangle(torch.ones(4))
def triangle(x):
#   ^ hint x f32[4]
    rows = []
    for i in range(x.size(0)):
    #        ^ hint ×4
        row = x[: i + 1]
        #     ^ hint [1] +3
        for j in range(i):
        #        ^ hint ×0 +3
            row = row * j
        for _ in range(2):
        #        ^ hint ×2
            row = row + 1
        rows.append(row.sum())
    return torch.stack(rows)
    #      ^ hint [4]
