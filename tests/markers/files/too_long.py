"""What does not fit goes whole: spaces after commas, then dtypes, then counts, then values from the right."""

import torch


def spread(x, n):
#   ^ hint x f32[1, 10] ×2
    a = x.expand(1000, 10)
    #   ^ hint [1000, 10]
    b, c, d = a[:, :1].expand(1000, 1000), a, a.T
    #         ^ hint [1000,1000], [1000,10], [10,1000]
    e, f, g = a.long(), b.argmax(0), b > 0
    #         ^ hint [1000,10], [1000], [1000,1000]
    b, c = c[:n].repeat(1, 2), c[:, :1].repeat(2, n)
    #      ^ hint [100, 20] +1, [2000, 100] +1
    d, e, f = b, c, a[:n].expand(1, n, 10)
    #         ^ hint [100,20], [2000,100], [1,100,10]
    a = b.repeat(20, 20), c.repeat(20, 20), f.repeat(20, 20, 20)
    #   ^ hint (3 tensors) +1
    return b
    #      ^ hint [100, 20] +1


# torchlens: both(torch.ones(1, 10))
def both(x):
#   ^ hint x f32[1, 10]
    narrow, wide = spread(x, 100), spread(x, 200)
    #              ^ hint [100, 20], [200, 20]
    number_of_elements = narrow.numel() * 1_000_000
    if number_of_elements > 5_000:
    #  ^ hint True
        wide = wide[0]
        #      ^ hint [20]
    return wide
    #      ^ hint [20]
