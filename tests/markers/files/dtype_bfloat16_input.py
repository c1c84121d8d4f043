"""In a run in bfloat16 it is float32 that is told."""

import torch


# torchlens: rank(torch.ones(2, 4, dtype=torch.bfloat16))
def rank(x):
#   ^ hint x bf16[2, 4]
    scaled = x * 2
    #        ^ hint [2, 4]
    wide = scaled.float().softmax(dim=-1)
    #      ^ hint f32[2, 4]
    order = wide.argsort()
    #       ^ hint i64[2, 4]
    return wide.to(x.dtype).gather(-1, order)
    #      ^ hint [2, 4]
