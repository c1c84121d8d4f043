"""A name that is bound in a test is what the test tells."""

import torch


# torchlens: crop(torch.ones(2, 11))
def crop(x):
#   ^ hint x f32[2, 11]
    if (extra := x.size(1) % 4) > 0:
    #  ^ hint True, extra = 3
        x = x[:, :-extra]
        #   ^ hint [2, 8]
    if (rest := x.size(1) % 4):
    #  ^ hint False
        x = x[:, :-rest]
    return x
    #      ^ hint [2, 8]
