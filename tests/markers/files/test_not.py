"""`not` adds nothing to what stands there; inside `and` it is part of the operand that decided."""

import torch
from torch import nn


class Block(nn.Module):
    # torchlens: Block()(torch.ones(2, 3))
    def forward(self, x, cache=None):
    #   ^ hint x f32[2, 3]
        if not self.training:
        #  ^ hint False
            return x
        if cache is None and not self.training:
        #  ^ hint False (not self.training)
            return x * 2
        if not (self.training or cache):
        #  ^ hint False (self.training)
            return x * 3
        return x + 1
        #      ^ hint [2, 3]
