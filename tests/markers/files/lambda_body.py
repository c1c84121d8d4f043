"""A lambda is silent where it is made; what it gives is told where it is called, its ops are where they stand."""

import torch


# torchlens: apply(torch.ones(2, 3))
def apply(x):
#   ^ hint x f32[2, 3]
    double = lambda t: t * 2
    #                  ^ op mul_1_1
    pick = lambda t, i=0: t[i]
    y = double(x)
    #   ^ hint [2, 3]
    return pick(y) + pick(y, 1)
    #      ^ hint [3]
