"""What a generator yields is told at its `yield`, also where it was left half way."""

import torch


def windows(x, size):
#   ^ hint x f32[8]
    for start in range(x.size(0) - size + 1):
    #            ^ hint ×4
        yield x[start : start + size]
        #     ^ hint [3]


# torchlens: peaks(torch.arange(8.0))
def peaks(x):
#   ^ hint x f32[8]
    found = []
    for window in windows(x, 3):
    #             ^ hint ×4, [3]
        if window[0] > 2:
        #  ^ hint True 1 of 4
            break
        found.append(window.amax())
    return torch.stack(found)
    #      ^ hint [3]
