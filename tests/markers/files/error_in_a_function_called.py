"""An error is where it was raised; the lines that called it have nothing to tell, and the failing call is shown."""

import torch


def combine(a, b):
#   ^ hint a f32[2, 4], b f32[3], 3 of 3
    total = a.sum()
    #       ^ hint []
    return total + a * b
    #              ^ error f32[2, 4] * f32[3]: 4 meets 3


# torchlens: run(torch.ones(2, 3))
def run(x):
#   ^ hint x f32[2, 3]
    good = combine(x, x[0])
    #      ^ hint [2, 3]
    wide = torch.cat([x, x[:, :1]], dim=1)
    #      ^ hint [2, 4]
    fine = combine(wide, torch.ones(1))
    #      ^ hint [2, 4]
    bad = combine(wide, x[0])
    return good, fine, bad
