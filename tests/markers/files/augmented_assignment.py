"""`+=` is told when it makes a tensor of a number or changes a shape, and is silent otherwise."""

import torch


# torchlens: accumulate(torch.ones(2, 3))
def accumulate(x):
#   ^ hint x f32[2, 3]
    total = 0
    total += x
    #        ^ hint [2, 3]
    total += 1
    total *= x
    rows = x[0]
    #      ^ hint [3]
    rows @= x.T
    #       ^ hint [2]
    return total.T @ rows
    #      ^ hint [3]
