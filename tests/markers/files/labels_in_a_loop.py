"""What runs again is the same layer's next pass; the last is at the expression."""

import torch
from torch import nn


class Steps(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.Linear(4, 4)

    # torchlens: Steps()(torch.ones(2, 4))
    def forward(self, x):
    #   ^ hint x f32[2, 4]
        for _ in range(3):
        #        ^ hint ×3
            x = self.cell(x)
            #   ^ op linear_1_1:3
            x = torch.sin(x)
            #   ^ op sin_1_2:3
        return self.cell(x)
        #      ^ hint [2, 4]
        #      ^ op linear_1_1:4
