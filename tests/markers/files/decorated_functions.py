"""A decorated function and its wrapper both tell what came in."""

import functools

import torch


def residual(f):
    @functools.wraps(f)
    def wrapped(x, *args):
    #   ^ hint x f32[2, 3] ×2
        return x + f(x, *args)
        #      ^ hint [2, 3]

    return wrapped


@residual
def act(x):
#   ^ hint x f32[2, 3]
    return x.relu()
    #      ^ hint [2, 3]


@torch.no_grad()
@residual
def scale(x, by):
#   ^ hint x f32[2, 3]
    return x.mean(0) * by
    #      ^ hint [3]


# torchlens: run(torch.ones(2, 3))
def run(x):
#   ^ hint x f32[2, 3]
    return scale(act(x), 2)
    #      ^ hint [2, 3]
