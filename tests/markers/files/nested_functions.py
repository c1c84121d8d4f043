"""A function in a function is told where it stands, with what it took from around it."""

import torch


# torchlens: outer(torch.ones(2, 3))
def outer(x):
#   ^ hint x f32[2, 3]
    seen = None

    def scaled(t):
    #   ^ hint t f32[3] ×2
        nonlocal seen
        seen = t.sum()
        #      ^ hint []
        shifted = t - x
        #         ^ hint [2, 3]
        return shifted * seen
        #      ^ hint [2, 3]

    first = scaled(x[0])
    #       ^ hint [2, 3]
    return first + scaled(x[1])
    #      ^ hint [2, 3]
