"""An object is told by its first field that is a tensor; a named tuple as any tuple."""

from collections import namedtuple
from dataclasses import dataclass

import torch


@dataclass
class Output:
    name: str
    logits: torch.Tensor
    loss: torch.Tensor


Pair = namedtuple("Pair", "mean peak")


# torchlens: run(torch.ones(2, 5))
def run(x):
#   ^ hint x f32[2, 5]
    pair = Pair(x.mean(0), x.amax(1))
    #      ^ hint [5], [2]
    out = Output("net", x * 2, pair.mean.sum())
    #     ^ hint .logits [2, 5]
    distribution = torch.distributions.Normal(pair.peak, torch.ones(2))
    #              ^ hint .loc [2]
    out.loss = distribution.log_prob(pair.peak).sum()
    #          ^ hint []
    return out
    #      ^ hint .logits [2, 5]
