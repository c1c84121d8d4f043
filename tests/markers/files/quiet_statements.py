"""Nothing is told of layers, of numbers and strings, and of expressions that stand alone."""

import torch
from torch import nn

WIDTH = 4
NAMES = ["left", "right"]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(WIDTH, 2)
        self.act = nn.ReLU()
        self.scale = 0.5

    # torchlens: Net()(torch.ones(2, 4))
    def forward(self, x):
    #   ^ hint x f32[2, 4]
        size = x.size(0)
        named = dict.fromkeys(NAMES, size)
        x.add_(len(named))
        print("in", x.shape)
        return self.act(self.proj(x)) * self.scale
        #      ^ hint [2, 2]
