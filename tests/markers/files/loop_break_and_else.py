"""A loop that was left by `break` counts the turn it was left in; its `else` did not run."""

import torch


# torchlens: settle(torch.ones(4))
def settle(x):
#   ^ hint x f32[4]
    for step in range(100):
    #           ^ hint ×4
        x = x / 2
        if step == 3:
        #  ^ hint True 1 of 4
            break
    else:
        x = torch.zeros_like(x)
       #^ not run
    for step in range(2):
    #           ^ hint ×2
        x = x + 1
    else:
        x = x[None]
        #   ^ hint [1, 4]
    return x
    #      ^ hint [1, 4]
