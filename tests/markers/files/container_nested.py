"""Containers in containers are told as once where they are equal, else by the number of tensors in all."""

import torch


# torchlens: cache(torch.ones(1, 2, 3))
def cache(x):
#   ^ hint x f32[1, 2, 3]
    layers = [(x, x.mean(-1)) for _ in range(4)]
    #        ^ hint (8 tensors)
    equal = [(x, x, x) for _ in range(4)]
    #       ^ hint 4×3×[1, 2, 3]
    found = x, layers
    #       ^ hint [1, 2, 3], (8 tensors)
    return found, equal[0]
    #      ^ hint (9 tensors), 3×[1, 2, 3]
