"""Where a value's own truth is the test, True says what it was; False leaves nothing to say."""

import torch


# torchlens: gather([torch.ones(2), torch.zeros(2), torch.ones(2)], "mean")
def gather(parts, how):
#   ^ hint parts 3×f32[2]
    left = []
    if len(parts):
    #  ^ hint True, len(parts) = 3
        stacked = torch.stack(parts)
        #         ^ hint [3, 2]
    if len(left):
    #  ^ hint False
        stacked = torch.cat([stacked, *left])
    if how:
    #  ^ hint True, how = 'mean'
        stacked = stacked.mean(0)
        #         ^ hint [2]
    return stacked
    #      ^ hint [2]
