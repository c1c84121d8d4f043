"""A parameter's default is told if it is a tensor and was used."""

import torch

KERNEL = torch.ones(1, 1, 3)
#        ^ hint [1, 1, 3]


def blur(x, kernel=KERNEL, pad=1):
#   ^ hint x f32[1,1,8], kernel f32[1,1,3] ×2
    return torch.nn.functional.conv1d(x, kernel, padding=pad)
    #      ^ hint [1, 1, 8]


# torchlens: twice(torch.ones(1, 1, 8))
def twice(x):
#   ^ hint x f32[1, 1, 8]
    return blur(blur(x), KERNEL / 3)
    #      ^ hint [1, 1, 8]
