"""A chained comparison tells the value in its middle."""

import torch


# torchlens: resize(torch.ones(3, 8))
def resize(x):
#   ^ hint x f32[3, 8]
    if 0 < x.size(1) <= 16:
    #  ^ hint True, x.size(1) = 8
        x = x.repeat(1, 2)
        #   ^ hint [3, 16]
    if 4 <= x.size(0) < 64:
    #  ^ hint False, x.size(0) = 3
        x = x[:4]
    return x
    #      ^ hint [3, 16]
