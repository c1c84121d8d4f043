"""A generator that the traced call gives back is driven to its end."""

import torch


# torchlens: decode(torch.ones(1, 4))
def decode(x):
#   ^ hint x f32[1, 4]
    for step in range(3):
    #           ^ hint ×3
        x = torch.cat([x, x[:, -1:]], dim=1)
        #   ^ hint [1, 5] +2
        yield x
        #     ^ hint [1, 5] +2
