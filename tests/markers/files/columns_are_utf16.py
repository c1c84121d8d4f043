"""Columns of hints are UTF-16: what stands beyond the first plane counts twice."""

import torch


# torchlens: greet(torch.ones(2, 3))
def greet(x):
#   ^ hint@13 x f32[2, 3]
    y = x * len("é")
    #   ^ hint@20 [2, 3]
    #   ^ op mul_1_1
    z = x[:, : len("😀")]
    #   ^ hint@25 [2, 1]
    named = {"🔥": x.exp(), "é": z}
    #       ^ hint@35 {🔥: [2, 3], é: [2, 1]}
    #             ^ op exp_1_3
    return named["🔥"] * z
    #      ^ hint@26 [2, 3]
    #      ^ op mul_2_4
