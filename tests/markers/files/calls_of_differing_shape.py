"""Of several calls the first one's shapes are told, with the number of further ones."""

import torch
from torch import nn


class Narrow(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.proj = nn.Linear(features, features // 2)

    def forward(self, x):
    #   ^ hint x f32[2, 16] +2 ×3
        x = self.proj(x)
        #   ^ hint [2, 8] +2
        return x.relu()
        #      ^ hint [2, 8] +2


# torchlens: nn.Sequential(*[Narrow(size) for size in (16, 8, 4)])(torch.ones(2, 16))
