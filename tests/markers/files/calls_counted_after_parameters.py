"""Where no parameter stands on the last line of a `def`, it says in how many shapes it was called."""

import torch


def halve(
    x,
   #^ hint x f32[4, 8] +1
    dim,
):
#^ hint ×3, 2 shapes
    low, high = x.chunk(2, dim=dim)
    #           ^ hint [2, 8] +1, [2, 8] +1
    return low + high
    #      ^ hint [2, 8] +1


# torchlens: halvings(torch.ones(4, 8))
def halvings(x):
#   ^ hint x f32[4, 8]
    once = halve(x, 0)
    #      ^ hint [2, 8]
    twice = halve(once, 0)
    #       ^ hint [1, 8]
    return halve(x, 0), twice
    #      ^ hint [2, 8], [1, 8]
