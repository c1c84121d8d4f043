"""Numbers in tests: with commas, with as many digits as it takes to see the difference."""

import torch


# torchlens: report(torch.zeros(81233))
def report(losses):
#   ^ hint losses f32[81233]
    if losses.numel() > 10_000:
    #  ^ hint True, losses.numel() = 81,233
        losses = losses[:1000]
        #        ^ hint [1000]
    error = losses.mean() + 1.0004
    #       ^ hint []
    if error > 1:
    #  ^ hint True, error = 1.0004
        error = error * 1e-6
    if error < 1e-3:
    #  ^ hint True, error = 1.0e-06
        error = error * 1e6
    return error
    #      ^ hint []
