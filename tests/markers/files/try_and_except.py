"""A statement that raised has no value; the handler that ran has, and the one that did not is marked."""

import torch


# torchlens: product(torch.ones(2, 3))
def product(x):
#   ^ hint x f32[2, 3]
    try:
        y = x @ x
    except RuntimeError:
        y = x @ x.T
        #   ^ hint [2, 2]
    else:
        y = y + 1
       #^ not run
    try:
        z = y.sum(0)
        #   ^ hint [2]
    except ValueError:
        z = y.mean(0)
       #^ not run
    finally:
        z = z[None]
        #   ^ hint [1, 2]
    return z
    #      ^ hint [1, 2]
