"""An async `forward` is awaited, and told like any other."""

import asyncio

import torch
from torch import nn


class Remote(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(4, 2)

    async def fetch(self, x):
    #         ^ hint x f32[3, 4]
        await asyncio.sleep(0)
        return self.proj(x)
        #      ^ hint [3, 2]

    # torchlens: Remote()(torch.ones(3, 4))
    async def forward(self, x):
    #         ^ hint x f32[3, 4]
        y = await self.fetch(x)
        #   ^ hint [3, 2]
        return y.softmax(-1)
        #      ^ hint [3, 2]
