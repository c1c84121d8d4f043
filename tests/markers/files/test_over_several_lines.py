"""A test over several lines is told on its keyword's line."""

import torch


# torchlens: route(torch.ones(2, 3))
def route(x):
#   ^ hint x f32[2, 3]
    if (
   #^ hint False, x.size(1) = 3
        x.size(0) > 1
        and x.size(1) > 4
    ):
        return x[:, :4]
    elif x.dim() > 1:
    #    ^ hint True, x.dim() = 2
        return x.flatten()
        #      ^ hint [6]
    else:
        return x
