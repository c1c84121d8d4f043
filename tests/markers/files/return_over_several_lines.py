"""A statement over several lines is told where its last target ends, a `return` on its first line."""

import torch


# torchlens: mix(torch.ones(2, 3))
def mix(x):
#   ^ hint x f32[2, 3]
    y = torch.cat(
    #   ^ hint [2, 6]
        [x, x],
        dim=1,
    )
    (
        left,
        right,
       #^ hint [2, 3], [2, 3]
    ) = y.chunk(2, dim=1)
    return torch.stack(
    #      ^ hint [2, 2, 3]
        [
            left,
            right,
        ],
    )
