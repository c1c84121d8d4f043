"""A test on a tensor tells the number that decided; a tensor of bools says it all by its outcome."""

import torch


# torchlens: clip(torch.tensor([1.0, 2.0, 3.0]))
def clip(x):
#   ^ hint x f32[3]
    if x.sum() > 5:
    #  ^ hint True, x.sum() = 6.0
        x = x / x.sum()
    if x.mean() > 0.5:
    #  ^ hint False, x.mean() = 0.33
        x = x - x.mean()
    if (x > 0).all():
    #  ^ hint True
        x = x.log()
    return x
    #      ^ hint [3]
