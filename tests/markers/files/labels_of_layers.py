"""Labels: a function's name, its number among its like, its number among all; however it was written."""

import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Linear(4, 8)
        self.act = nn.ReLU()
        self.down = nn.Linear(8, 4)

    # torchlens: Net()(torch.ones(2, 4))
    def forward(self, x):
    #   ^ hint x f32[2, 4]
        h = self.act(self.up(x))
        #   ^ hint [2, 8]
        #   ^ op relu_1_2
        #            ^ op linear_1_1
        h = F.relu(h) + torch.relu(h) + h.relu()
        #   ^ op relu_2_3
        #               ^ op relu_3_4
        #                               ^ op relu_4_6
        return self.down(h)
        #      ^ hint [2, 4]
        #      ^ op linear_2_8
