"""A few different tensors in a tuple are listed; of many, the number is told."""

import torch


# torchlens: split(torch.ones(4, 8))
def split(x):
#   ^ hint x f32[4, 8]
    pair = x[0], x.sum()
    #      ^ hint [8], []
    three = (x, x.argmax(-1), x.mean())
    #       ^ hint [4, 8], i64[4], []
    levels = [x[:, : 2**i] for i in range(4)]
    #        ^ hint [4, 1], [4, 2], [4, 4], [4, 8]
    many = [x.repeat(1, i) for i in range(1, 7)]
    #      ^ hint (6 tensors)
    return pair, three, levels, many
    #      ^ hint (15 tensors)
