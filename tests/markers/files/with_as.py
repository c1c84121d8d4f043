"""What `with` binds is told as any binding."""

from contextlib import contextmanager

import torch


@contextmanager
def centred(x):
#   ^ hint x f32[4, 2] +1 ×2
    yield x - x.mean(0)
    #     ^ hint [4, 2] +1


# torchlens: whiten(torch.ones(4, 2))
def whiten(x):
#   ^ hint x f32[4, 2]
    with centred(x) as y:
   #^ hint [4, 2]
        scale = (y.T @ y).diagonal()
        #       ^ hint [2]
    with torch.no_grad(), centred(x.T) as z:
   #^ hint [2, 4]
        scale = scale + z.sum(1)
    return y / (scale + 1)
    #      ^ hint [4, 2]
