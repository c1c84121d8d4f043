"""What ran only while the model was built is told as it was then; what was called again, as it was in the call."""

import torch
from torch import nn


def grid(size):
    line = torch.arange(size)
    #      ^ hint i64[3]
    return line[None] - line[:, None]
    #      ^ hint i64[3, 3]


class Causal(nn.Module):
    def __init__(self, size):
        super().__init__()
        mask = torch.ones(size, size).tril()
        #      ^ hint [8, 8]
        self.register_buffer("mask", mask)
        self.offsets = grid(size)
        #              ^ hint i64[8, 8]
        self.proj = nn.Linear(4, 4)

    # torchlens: Causal(8)(torch.ones(3, 4))
    def forward(self, x):
    #   ^ hint x f32[3, 4]
        bias = grid(x.size(0)) * self.mask[:3, :3]
        #      ^ hint [3, 3]
        return bias @ self.proj(x)
        #      ^ hint [3, 4]
