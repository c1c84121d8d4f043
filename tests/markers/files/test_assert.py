"""An assertion that held says nothing, unless there is a value to tell."""

import torch


# torchlens: check(torch.ones(2, 8))
def check(x):
#   ^ hint x f32[2, 8]
    assert x.dim() == 2
    assert x.size(0) < 16, "a small batch"
    #      ^ hint True, x.size(0) = 2
    assert isinstance(x, torch.Tensor)
    assert not x.isnan().any()
    return x.mean()
    #      ^ hint []
