"""Of a `match`, the cases that did not come true did not run."""

import torch


# torchlens: reduce(torch.ones(2, 3), "mean")
def reduce(x, how):
#   ^ hint x f32[2, 3]
    match how, x.dim():
        case "sum", _:
            x = x.sum(-1)
           #^ not run
        case "mean", 2:
            x = x.mean(-1)
            #   ^ hint [2]
        case _:
            x = x.flatten()
           #^ not run
    return x
    #      ^ hint [2]
