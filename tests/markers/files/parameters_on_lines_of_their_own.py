"""Parameters on lines of their own are told there."""

import torch


# torchlens: attend(torch.ones(2, 4, 8), torch.ones(2, 6, 8), mask=torch.ones(4, 6) > 0)
def attend(
    query,
   #^ hint query f32[2, 4, 8]
    memory,
   #^ hint memory f32[2, 6, 8]
    mask=None,
   #^ hint mask bool[4, 6]
    *,
    scale=1.0,
):
    scores = query @ memory.transpose(1, 2) * scale
    #        ^ hint [2, 4, 6]
    if mask is not None:
    #  ^ hint True
        scores = scores.masked_fill(~mask, float("-inf"))
    return scores.softmax(-1) @ memory
    #      ^ hint [2, 4, 8]
