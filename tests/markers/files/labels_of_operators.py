"""Operators have the names of their functions, whatever side the tensor is on."""

import torch


# torchlens: calculate(torch.ones(3, 3))
def calculate(x):
#   ^ hint x f32[3, 3]
    y = 1 + x
    #   ^ hint [3, 3]
    #   ^ op add_1_1
    y = 1 - y
    #   ^ op rsub_1_2
    y = -y / 2
    #   ^ op truediv_1_4
    y = y**2 @ y
    #   ^ op matmul_1_6
    y = y // 2
    #   ^ op floordivide_1_7
    y = y[0]
    #   ^ hint [3]
    #   ^ op getitem_1_8
    z = y.add_(1) > 0
    #   ^ hint bool[3]
    #   ^ op add_2_9
    return z
    #      ^ hint bool[3]
