"""A list that grew from turn to turn tells how many tensors it had at first and at last."""

import torch


# torchlens: decode(torch.ones(1, 3))
def decode(x):
#   ^ hint x f32[1, 3]
    cache = [x]
    #       ^ hint 1×[1, 3]
    for step in range(4):
    #           ^ hint ×4
        cache = [*cache, cache[-1] * 2]
        #       ^ hint (2 → 5 tensors)
        whole = torch.cat(cache)
        #       ^ hint [2, 3] +3
    return whole
    #      ^ hint [5, 3]
