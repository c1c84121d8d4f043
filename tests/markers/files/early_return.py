"""What stands after a `return` that was taken did not run."""

import torch


# torchlens: normalise(torch.zeros(2, 3))
def normalise(x):
#   ^ hint x f32[2, 3]
    total = x.sum()
    #       ^ hint []
    if total == 0:
    #  ^ hint True
        return x
        #      ^ hint [2, 3]
    scaled = x / total
   #^ not run
    return scaled.log()
   #^ not run
