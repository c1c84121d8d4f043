"""A test on NaN is False, and says why."""

import torch


# torchlens: best(torch.zeros(3))
def best(losses):
#   ^ hint losses f32[3]
    ratio = losses.sum() / losses.max()
    #       ^ hint []
    if ratio > 1:
    #  ^ hint False, ratio = NaN
        return ratio
       #^ not run
    if ratio != ratio:
    #  ^ hint True, ratio = NaN
        return losses.min()
        #      ^ hint []
    return ratio
   #^ not run
