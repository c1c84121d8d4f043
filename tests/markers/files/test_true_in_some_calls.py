"""A test that went both ways tells how often it held, and the value with which it held first."""

import torch
import torch.nn.functional as F


# torchlens: pad_all([torch.ones(1, size) for size in (8, 5, 7, 8, 6, 8, 8, 8)])
def pad_all(rows):
#   ^ hint rows (8 tensors)
    padded = []
    for row in rows:
    #          ^ hint ×8, [1, 8] +3
        pad = -row.size(1) % 8
        if pad > 0:
        #  ^ hint True 3 of 8, pad = 3
            row = F.pad(row, (0, pad))
            #     ^ hint [1, 8]
        padded.append(row)
    return torch.cat(padded)
    #      ^ hint [8, 8]
