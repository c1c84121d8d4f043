"""Numbers in tests: with commas, as many digits as it takes to see the difference, NaN."""

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
        error = error - error.sum().sqrt() / 0 * 0
    worst = error.log() * float("nan")
    #       ^ hint []
    if worst > 0:
    #  ^ hint False, worst = NaN
        worst = -worst
    return worst
    #      ^ hint []
