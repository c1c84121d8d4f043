"""Equal tensors are told once, with their number."""

import torch


# torchlens: heads(torch.ones(2, 8, 4))
def heads(x):
#   ^ hint x f32[2, 8, 4]
    parts = x.chunk(4, dim=1)
    #       ^ hint 4×[2, 2, 4]
    scores = [part.mean(-1) for part in parts]
    #        ^ hint 4×[2, 2]
    best = [score.argmax(-1) for score in scores]
    #      ^ hint 4×i64[2]
    one = [x]
    #     ^ hint 1×[2, 8, 4]
    empty = []
    return best, one, empty
    #      ^ hint 4×i64[2], 1×[2, 8, 4]
