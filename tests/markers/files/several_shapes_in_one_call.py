"""A place with several shapes in one call tells the first and how many more; they are never merged."""

import torch
import torch.nn.functional as F


# torchlens: pyramid(torch.ones(1, 3, 32))
def pyramid(x):
#   ^ hint x f32[1, 3, 32]
    levels = []
    for _ in range(3):
    #        ^ hint ×3
        x = F.avg_pool1d(x, 2)
        #   ^ hint [1, 3, 16] +2
        levels.append(x.flatten(1))
    return torch.cat(levels, dim=1)
    #      ^ hint [1, 84]
