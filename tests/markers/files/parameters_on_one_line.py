"""A one-line `def` tells its tensors at its end, and of its other arguments nothing."""

import torch


# torchlens: blend(torch.ones(2, 3), torch.zeros(3, dtype=torch.long), torch.ones(3))
def blend(x, chosen, bias, alpha=0.5, name="blend"):
#   ^ hint x [2,3], chosen [3], bias [3]
    mixed = x[:, chosen] * alpha
    #       ^ hint [2, 3]
    return mixed + bias
    #      ^ hint [2, 3]
