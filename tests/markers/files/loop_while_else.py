"""The `else` of a loop that ended by its own test ran."""

import torch


# torchlens: halve(torch.ones(8))
def halve(x):
#   ^ hint x f32[8]
    while x.size(0) > 1:
    #     ^ hint ×3
        x = x[::2]
        #   ^ hint [4] +2
        if x.sum() < 0:
        #  ^ hint False, x.sum() = 4.0
            break
           #^ not run
    else:
        x = x.squeeze(0)
        #   ^ hint []
    return x
    #      ^ hint []
