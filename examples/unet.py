"""A U-Net for images of any size: what comes up is cropped or padded to its skip."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass
class Segmentation:
    logits: Tensor
    auxiliary: list[Tensor]
    loss: Tensor | None = None


def fit(x: Tensor, size: torch.Size) -> Tensor:
    """Crop or pad the last two dimensions of `x`, evenly on both sides, to `size`."""
    height, width = x.shape[-2:]
    dy, dx = size[-2] - height, size[-1] - width
    if dy == 0 and dx == 0:
        return x
    if dy < 0 or dx < 0:
        top, left = max(-dy, 0) // 2, max(-dx, 0) // 2
        x = x[..., top : top + min(height, size[-2]), left : left + min(width, size[-1])]
    if dy > 0 or dx > 0:
        dy, dx = max(dy, 0), max(dx, 0)
        x = F.pad(x, (dx // 2, dx - dx // 2, dy // 2, dy - dy // 2))
    return x


class DoubleConv(nn.Sequential):
    def __init__(self, inside: int, outside: int, padding: int = 1):
        super().__init__(
            nn.Conv2d(inside, outside, 3, padding=padding, bias=False),
            nn.GroupNorm(4, outside),
            nn.SiLU(),
            nn.Conv2d(outside, outside, 3, padding=padding, bias=False),
            nn.GroupNorm(4, outside),
            nn.SiLU(),
        )


class Up(nn.Module):
    """Doubles the size, by a learned kernel or by interpolation, and joins the skip."""

    def __init__(self, inside: int, skip: int, outside: int, learned: bool):
        super().__init__()
        self.upsample = (
            nn.ConvTranspose2d(inside, inside // 2, 2, stride=2) if learned else None
        )
        self.reduce = None if learned else nn.Conv2d(inside, inside // 2, 1)
        self.conv = DoubleConv(inside // 2 + skip, outside)

    def forward(self, x: Tensor, skip: Tensor) -> Tensor:
        if self.upsample is not None:
            x = self.upsample(x)
        else:
            x = F.interpolate(x, scale_factor=2.0, mode="bilinear", align_corners=False)
            x = self.reduce(x)
        x = fit(x, skip.shape)
        return self.conv(torch.cat([skip, x], dim=1))


class Bottom(nn.Module):
    """Attention over all positions, where there are few enough of them."""

    def __init__(self, channels: int, most_positions: int = 256):
        super().__init__()
        self.most_positions = most_positions
        self.norm = nn.LayerNorm(channels)
        self.attention = nn.MultiheadAttention(channels, num_heads=4, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        _, _, height, width = x.shape
        if height * width > self.most_positions:
            return x
        tokens = self.norm(x.flatten(2).transpose(1, 2))
        mixed, _ = self.attention(tokens, tokens, tokens, need_weights=False)
        return x + mixed.transpose(1, 2).unflatten(2, (height, width))


# torchlens: UNet(classes=3).eval()(torch.randn(1, 1, 75, 58))
# torchlens[train]: UNet(3, learned=False, round_up=True)(torch.randn(2, 1, 50, 36),
#                                                         torch.randint(-1, 3, (2, 50, 36)))
class UNet(nn.Module):
    """Halves the image at each level; what was rounded away is padded or cropped back."""

    def __init__(
        self,
        classes: int,
        widths: tuple[int, ...] = (16, 32, 48, 64),
        learned: bool = True,
        round_up: bool = False,
    ):
        super().__init__()
        self.round_up = round_up
        levels = list(pairwise(widths))
        self.first = DoubleConv(1, widths[0])
        self.downs = nn.ModuleList(DoubleConv(above, below) for above, below in levels)
        self.bottom = Bottom(widths[-1])
        self.ups = nn.ModuleList(
            Up(below, above, above, learned) for above, below in reversed(levels)
        )
        self.heads = nn.ModuleList(
            nn.Conv2d(width, classes, 1) for width in reversed(widths[:-1])
        )

    def forward(self, image: Tensor, target: Tensor | None = None) -> Segmentation:
        x = self.first(image)
        skips = []
        for down in self.downs:
            skips.append(x)
            x = down(F.max_pool2d(x, 2, ceil_mode=self.round_up))
        x = self.bottom(x)

        predictions = []
        for up, head in zip(self.ups, self.heads):
            x = up(x, skips.pop())
            predictions.append(head(x))
        logits = predictions.pop()
        if not self.training:
            return Segmentation(logits, auxiliary=[])

        out = Segmentation(logits, auxiliary=predictions)
        if target is not None:
            out.loss = self.loss([*predictions, logits], target)
        return out

    def loss(self, predictions: list[Tensor], target: Tensor) -> Tensor:
        """Mean cross entropy, the coarse predictions included; class -1 does not count."""
        if (target < 0).all():
            return predictions[-1].sum() * 0.0
        losses = []
        for logits in predictions:
            if logits.shape[-2:] != target.shape[-2:]:
                logits = F.interpolate(
                    logits, target.shape[-2:], mode="bilinear", align_corners=False
                )
            losses.append(F.cross_entropy(logits, target, ignore_index=-1))
        return sum(losses) / len(losses)
