"""A conditional expression is told by the value that it had."""

import torch


# torchlens: pool(torch.ones(2, 3, 4))
def pool(x):
#   ^ hint x f32[2, 3, 4]
    pooled = x.mean(-1) if x.size(-1) > 1 else x.squeeze(-1)
    #        ^ hint [2, 3]
    biased = pooled + (1 if pooled.sum() > 100 else 0)
    #        ^ hint [2, 3]
    return biased.sum() if biased.dim() > 2 else biased.sum(0)
    #      ^ hint [3]
