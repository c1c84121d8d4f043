"""Sizes that are taken apart are told as numbers."""

import torch


def tokens(x):
#   ^ hint x f32[2, 3, 8, 8] +1 ×2
    B, C, H, W = x.shape
    #            ^ hint 2, 3, 8, 8 +1
    batch, *rest = x.size()
    #              ^ hint 2, 3, 8, 8 +1
    first = x.shape[0]
    return x.reshape(B, C, H * W).sum(0) / (first + batch + len(rest))
    #      ^ hint [3, 64] +1


# torchlens: both(torch.ones(2, 3, 8, 8))
def both(x):
#   ^ hint x f32[2, 3, 8, 8]
    whole = tokens(x)
    #       ^ hint [3, 64]
    corner = tokens(x[:, :, :4, :4])
    #        ^ hint [3, 16]
    return whole.sum() + corner.sum()
    #      ^ hint []
