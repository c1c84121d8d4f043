"""A loop tells how often it turned, also not at all."""

import torch


# torchlens: walk(torch.ones(3, 4))
def walk(x):
#   ^ hint x f32[3, 4]
    total = torch.zeros(4)
    #       ^ hint [4]
    for row in x:
    #          ^ hint ×3, [4]
        total = total + row
    for extra in []:
    #            ^ hint ×0
        total = total * extra
       #^ not run
    while total.sum() > 2:
    #     ^ hint ×3
        total = total / 2
    return total
    #      ^ hint [4]
