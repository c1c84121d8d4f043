"""A dict of a class of its own, as libraries return them, is told by key as any dict."""

from collections import OrderedDict

import torch
from torch import nn


class ModelOutput(OrderedDict):
    pass


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(4, 10)

    # torchlens: Classifier()(torch.ones(2, 4))
    def forward(self, x, labels=None):
    #   ^ hint x f32[2, 4]
        out = ModelOutput(loss=None, logits=self.head(x))
        #     ^ hint {logits: [2, 10]}
        out["loss"] = out["logits"].logsumexp(-1).mean()
        return out
        #      ^ hint {loss: [], logits: [2, 10]}
