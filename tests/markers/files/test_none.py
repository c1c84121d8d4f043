"""A test for None is told by its outcome alone."""

import torch


# torchlens: attend(torch.ones(3, 4), bias=torch.ones(3, 3))
def attend(x, mask=None, bias=None):
#   ^ hint x f32[3, 4], bias f32[3, 3]
    scores = x @ x.T
    #        ^ hint [3, 3]
    if mask is not None:
    #  ^ hint False
        scores = scores * mask
    if bias is not None:
    #  ^ hint True
        scores = scores + bias
    if mask is bias is None:
    #  ^ hint False
        return scores
    return scores.softmax(-1) @ x
    #      ^ hint [3, 4]
