"""Of a method chain each line has a hint of its own."""

import torch


# torchlens: patches(torch.ones(2, 3, 8, 8))
def patches(x):
#   ^ hint x f32[2, 3, 8, 8]
    y = (
        x.unfold(2, 4, 4)
       #^ hint [2, 3, 2, 8, 4]
        .unfold(3, 4, 4)
        #^ hint [2, 3, 2, 2, 4, 4]
        .flatten(2, 3)
        #^ hint [2, 3, 4, 4, 4]
        .transpose(1, 2)
        #^ hint [2, 4, 3, 4, 4]
    )
    return (
        y.flatten(2)
       #^ hint [2, 4, 48]
        .mean(1)
        #^ hint [2, 48]
    )
