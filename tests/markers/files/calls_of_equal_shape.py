"""A function that ran several times says so at its `def`; what was always equal is told as once."""

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(4, 4)

    def forward(self, x):
    #   ^ hint x f32[2, 4] ×3
        h = self.proj(x)
        #   ^ hint [2, 4]
        return x + h
        #      ^ hint [2, 4]


# torchlens: nn.Sequential(Block(), Block(), Block())(torch.ones(2, 4))
