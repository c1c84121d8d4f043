"""A function that calls itself tells its outermost call's shapes, and how many others there were."""

import torch


# torchlens: fold(torch.ones(8))
def fold(x):
#   ^ hint x f32[8] +3 ×4
    if x.size(0) == 1:
    #  ^ hint True 1 of 4
        return x
        #      ^ hint [1]
    left, right = x.chunk(2)
    #             ^ hint [4] +2, [4] +2
    return fold(left + right)
    #      ^ hint [1]
