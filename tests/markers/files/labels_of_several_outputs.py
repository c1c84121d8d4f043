"""A call with several tensors has an op for each; the last is at the expression."""

import torch


# torchlens: split(torch.ones(2, 6))
def split(x):
#   ^ hint x f32[2, 6]
    a, b, c = x.chunk(3, dim=1)
    #         ^ hint [2, 2], [2, 2], [2, 2]
    #         ^ op chunk_3_3
    peak, where = x.max(dim=1)
    #             ^ hint [2], i64[2]
    #             ^ op max_2_5
    return a + b + c + peak + where
    #      ^ hint [2, 2]
