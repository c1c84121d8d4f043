"""Without a floating input the dtype of the first floating operation goes without saying."""

import torch
from torch import nn


class Bag(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(10, 8)

    # torchlens: Bag()(torch.tensor([[1, 2, 3, 0, 0]]))
    def forward(self, tokens):
    #   ^ hint tokens i64[1, 5]
        known = tokens != 0
        #       ^ hint bool[1, 5]
        words = self.embed(tokens)
        #       ^ hint [1, 5, 8]
        weights = known.float() / known.sum()
        #         ^ hint [1, 5]
        return weights @ words
        #      ^ hint [1, 1, 8]
