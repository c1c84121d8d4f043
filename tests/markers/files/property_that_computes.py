"""A property is a function like any other."""

import torch
from torch import nn


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(10, 4)

    @property
    def weight(self):
        centred = self.embed.weight - self.embed.weight.mean()
        #         ^ hint [10, 4]
        return centred.T
        #      ^ hint [4, 10]

    # torchlens: Tied()(torch.tensor([1, 2]))
    def forward(self, ids):
    #   ^ hint ids i64[2]
        return self.embed(ids) @ self.weight
        #      ^ hint [2, 10]
