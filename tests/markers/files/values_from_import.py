"""Tensors of the module are told; its constants are not."""

import torch

SIZE = 3
MEAN = torch.tensor([0.5, 0.4, 0.3])
#      ^ hint [3]
WEIGHTS = [torch.eye(SIZE), torch.eye(SIZE)]
#         ^ hint 2×[3, 3]
IDS = torch.arange(SIZE)
#     ^ hint i64[3]


# torchlens: centre(torch.ones(2, SIZE))
def centre(x):
#   ^ hint x f32[2, 3]
    for weight in WEIGHTS:
    #             ^ hint ×2, [3, 3]
        x = (x - MEAN) @ weight
    return x[:, IDS]
    #      ^ hint [2, 3]
