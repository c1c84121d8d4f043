"""A spectrum is complex."""

import torch


# torchlens: smooth(torch.ones(2, 8))
def smooth(x):
#   ^ hint x f32[2, 8]
    spectrum = torch.fft.rfft(x)
    #          ^ hint c64[2, 5]
    power = spectrum.abs()
    #       ^ hint [2, 5]
    kept = spectrum * (power > 0.1)
    #      ^ hint c64[2, 5]
    return torch.fft.irfft(kept)
    #      ^ hint [2, 8]
