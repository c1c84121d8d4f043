"""A starred target is told as the list that it is."""

import torch


# torchlens: fold(torch.ones(4, 3))
def fold(x):
#   ^ hint x f32[4, 3]
    first, *rest = x
    #              ^ hint [3], 3×[3]
    *most, last = rest
    #             ^ hint 2×[3], [3]
    return first + last + sum(most)
    #      ^ hint [3]
