"""An arm that was not taken did not run, a function that was never called is no such arm."""

import torch


def never_called(x):
    return x.exp()


# torchlens: route(torch.ones(2, 3))
def route(x, mode="plain", steps=0):
#   ^ hint x f32[2, 3]
    if mode == "fast":
    #  ^ hint False, mode = 'plain'
        x = never_called(x)
       #^ not run
        x = x * 2
       #^ not run
    elif mode == "plain":
    #    ^ hint True
        x = x.sum(0)
        #   ^ hint [3]
    else:
        raise ValueError(mode)
       #^ not run
    while steps > 0:
    #     ^ hint ×0
        steps -= 1
       #^ not run
    return x
    #      ^ hint [3]
