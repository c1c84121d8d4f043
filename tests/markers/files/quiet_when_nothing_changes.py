"""An assignment that gives a name the shape it had before shows nothing."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(4, 4)
        self.norm = nn.LayerNorm(4)

    # torchlens: Net()(torch.ones(2, 4))
    def forward(self, x):
    #   ^ hint x f32[2, 4]
        x = self.proj(x)
        x = self.norm(x)
        h = torch.relu(x)
        #   ^ hint [2, 4]
        h = h * 2
        x = x.sum(0)
        #   ^ hint [4]
        x = x.long()
        #   ^ hint i64[4]
        return h + x
        #      ^ hint [2, 4]
