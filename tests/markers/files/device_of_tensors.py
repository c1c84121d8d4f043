"""A device is told where it is another than that of the first input."""

import torch


# torchlens: shapes_only(torch.ones(2, 3))
def shapes_only(x):
#   ^ hint x f32[2, 3]
    plan = x.to("meta")
    #      ^ hint [2, 3]@meta
    wide = plan.repeat(4, 4)
    #      ^ hint [8, 12]@meta
    order = torch.arange(3, device="meta")
    #       ^ hint i64[3]@meta
    return x.expand(4, *x.shape), wide + order[0]
    #      ^ hint [4, 2, 3], [8, 12]@meta
