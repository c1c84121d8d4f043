"""The failing line has its error and no hint; those above stay, and nothing below counts as not run."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3)
        self.head = nn.Linear(128, 10)

    # torchlens: Net()(torch.randn(2, 3, 8, 8))
    def forward(self, x, flat=False):
    #   ^ hint x f32[2, 3, 8, 8]
        x = self.stem(x)
        #   ^ hint [2, 8, 6, 6]
        if flat:
        #  ^ hint False
            x = x.flatten(1)
           #^ not run
        x = x.mean((2, 3))
        #   ^ hint [2, 8]
        x = self.head(x)
        #   ^ error f32[2, 8] @ f32[128, 10]: 8 meets 128
        x = x.softmax(-1)
        return x
