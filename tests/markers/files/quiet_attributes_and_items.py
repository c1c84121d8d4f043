"""An attribute is told as any name is; of an item nothing is told, it may be a part of something larger."""

import torch
from torch import nn


class Memory(nn.Module):
    def __init__(self):
        super().__init__()
        self.state = torch.zeros(3)
        #            ^ hint [3]

    # torchlens: Memory()(torch.ones(2, 3))
    def forward(self, x):
    #   ^ hint x f32[2, 3]
        self.last = x.mean(0)
        #           ^ hint [3]
        self.last = self.last * 2
        self.state = self.state + self.last
        #            ^ hint [3]
        seen = {}
        seen["x"] = x
        return x + self.state
        #      ^ hint [2, 3]
