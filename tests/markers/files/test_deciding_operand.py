"""Of `and` and `or` the operand that decided is named, with its value where the outcome does not imply it."""

import torch
from torch import nn


class Drop(nn.Module):
    # torchlens: Drop().eval()(torch.ones(2, 3))
    def forward(self, x, scale=None):
    #   ^ hint x f32[2, 3]
        if self.training and x.size(0) > 1:
        #  ^ hint False (self.training)
            x = x * 0.5
        if x.size(0) > 1 and x.size(1) > 4:
        #  ^ hint False, x.size(1) = 3
            x = x[:, :4]
        if scale is None or scale > 1:
        #  ^ hint True (scale is None)
            x = x - x.mean()
        if x.dim() > 1 and x.size(1) > 2:
        #  ^ hint True
            x = x + 1
        if not self.training:
        #  ^ hint True
            x = x.detach()
        return x
        #      ^ hint [2, 3]
