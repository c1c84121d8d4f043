"""An annotation changes nothing about what is told; without a value there is nothing to tell."""

import torch
from torch import Tensor


# torchlens: pool(torch.ones(2, 3))
def pool(x: Tensor, keep: bool = True) -> Tensor:
#   ^ hint x f32[2, 3]
    size: int = x.size(1)
    mean: Tensor = x.mean(1, keepdim=keep)
    #              ^ hint [2, 1]
    rest: Tensor
    rest = x - mean
    #      ^ hint [2, 3]
    return rest / size
    #      ^ hint [2, 3]
