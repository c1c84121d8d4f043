"""A method and the one it overrides each tell their own calls."""

import torch
from torch import nn


class Base(nn.Module):
    def forward(self, x):
    #   ^ hint x f32[2, 6]
        return x.relu()
        #      ^ hint [2, 6]


class Doubled(Base):
    # torchlens: Doubled()(torch.ones(2, 3))
    def forward(self, x):
    #   ^ hint x f32[2, 3]
        x = torch.cat([x, x], dim=1)
        #   ^ hint [2, 6]
        x = super().forward(x)
        return x[:, :3]
        #      ^ hint [2, 3]
