"""What stands on one line is told on one line, in its order."""

import torch


# torchlens: step(torch.ones(2, 3))
def step(x):
#   ^ hint x f32[2, 3]
    a = x.sum(0); b = x.sum(1)
   #^ hint [3], [2]
    if a.size(0) > 2: b = b[:1]
    #  ^ hint True, a.size(0) = 3, [1]
    if b.size(0) > 2: b = b[:2]
    #  ^ hint False, b.size(0) = 1
    for _ in range(3): a = a[None]
    #        ^ hint ×3, [1, 3] +2
    while a.dim() > 2: a = a[0]
    #     ^ hint ×2, [1, 1, 3] +1
    return a * b
    #      ^ hint [1, 3]
