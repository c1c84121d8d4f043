"""A test tells which way it went; a comparison that held says its value itself."""

import torch
from torch import nn


class Head(nn.Module):
    # torchlens: Head()(torch.ones(2, 3))
    def forward(self, x):
    #   ^ hint x f32[2, 3]
        if x.dim() == 2:
        #  ^ hint True
            x = x[None]
            #   ^ hint [1, 2, 3]
        if x.dim() == 4:
        #  ^ hint False, x.dim() = 3
            x = x.mean(-1)
        if self.training:
        #  ^ hint True
            x = x * 0.9
        elif x.is_cuda:
            x = x.half()
        return x
        #      ^ hint [1, 2, 3]
