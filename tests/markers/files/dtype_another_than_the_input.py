"""A dtype is told where it is another than that of the call's first floating input."""

import torch


# torchlens: weigh(torch.ones(2, 3))
def weigh(x):
#   ^ hint x f32[2, 3]
    total = x.sum(dim=1)
    #       ^ hint [2]
    best = x.argmax(dim=1)
    #      ^ hint i64[2]
    positive = x > 0
    #          ^ hint bool[2, 3]
    precise = positive.double().mean()
    #         ^ hint f64[]
    return total[best] / precise
    #      ^ hint [2]
