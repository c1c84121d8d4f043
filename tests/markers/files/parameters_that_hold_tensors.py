"""Of a parameter that holds tensors its contents are told, `*args` and `**kwargs` included."""

import torch


# torchlens: fuse([torch.ones(2, 3), torch.ones(2, 3)], torch.ones(2), size=torch.ones(3))
def fuse(
    features,
   #^ hint features 2×f32[2, 3]
    *gates,
    #^ hint gates 1×f32[2]
    **extras,
    # ^ hint extras {size: f32[3]}
):
    return sum(features) * gates[0][:, None] * extras["size"]
    #      ^ hint [2, 3]
