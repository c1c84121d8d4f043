"""What changed in one call only is told for all: the first shape and how many more."""

import torch
import torch.nn.functional as F


def even(x):
#   ^ hint x f32[1, 4] +1 ×2
    if x.size(1) % 2:
    #  ^ hint True 1 of 2, x.size(1) % 2 = 1
        x = F.pad(x, (0, 1))
        #   ^ hint [1, 6]
    x = x.view(1, -1, 2)
    #   ^ hint [1, 2, 2] +1
    x = x + 1
    return x.sum(-1)
    #      ^ hint [1, 2] +1


# torchlens: both(torch.ones(1, 4), torch.ones(1, 5))
def both(a, b):
#   ^ hint a f32[1, 4], b f32[1, 5]
    return torch.cat([even(a), even(b)], dim=1)
    #      ^ hint [1, 5]
