"""A residual network for small images, with squeeze-and-excitation and drop path."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn


def drop_path(x: Tensor, rate: float, training: bool) -> Tensor:
    """Leave out the whole branch for some samples, and scale it up for the rest."""
    if not training or rate == 0.0:
        return x
    keep = torch.rand(x.shape[0], 1, 1, 1, device=x.device) >= rate
    return x * keep / (1.0 - rate)


class SqueezeExcite(nn.Module):
    def __init__(self, channels: int, reduction: int = 4):
        super().__init__()
        self.reduce = nn.Conv2d(channels, channels // reduction, 1)
        self.expand = nn.Conv2d(channels // reduction, channels, 1)

    def forward(self, x: Tensor) -> Tensor:
        scale = F.adaptive_avg_pool2d(x, 1)
        scale = self.expand(F.relu(self.reduce(scale)))
        return x * scale.sigmoid()


class Residual(nn.Module):
    """What the two kinds of blocks share: the way around, and the sum."""

    expansion = 1

    def __init__(self, inside: int, channels: int, stride: int, drop_rate: float):
        super().__init__()
        outside = channels * self.expansion
        self.drop_rate = drop_rate
        self.branch = self.make_branch(inside, channels, stride)
        self.shortcut: nn.Module | None = None
        if stride != 1 or inside != outside:
            self.shortcut = nn.Sequential(
                nn.Conv2d(inside, outside, 1, stride, bias=False),
                nn.BatchNorm2d(outside),
            )
        self.excite = SqueezeExcite(outside) if outside >= 64 else None

    def make_branch(self, inside: int, channels: int, stride: int) -> nn.Sequential:
        raise NotImplementedError

    def forward(self, x: Tensor) -> Tensor:
        out = self.branch(x)
        if self.excite is not None:
            out = self.excite(out)
        out = drop_path(out, self.drop_rate, self.training)
        identity = x if self.shortcut is None else self.shortcut(x)
        return F.relu(out + identity)


class BasicBlock(Residual):
    def make_branch(self, inside: int, channels: int, stride: int) -> nn.Sequential:
        return nn.Sequential(
            nn.Conv2d(inside, channels, 3, stride, padding=1, bias=False),
            nn.BatchNorm2d(channels),
            nn.ReLU(),
            nn.Conv2d(channels, channels, 3, padding=1, bias=False),
            nn.BatchNorm2d(channels),
        )


class Bottleneck(Residual):
    expansion = 4

    def make_branch(self, inside: int, channels: int, stride: int) -> nn.Sequential:
        return nn.Sequential(
            nn.Conv2d(inside, channels, 1, bias=False),
            nn.BatchNorm2d(channels),
            nn.ReLU(),
            nn.Conv2d(channels, channels, 3, stride, padding=1, bias=False),
            nn.BatchNorm2d(channels),
            nn.ReLU(),
            nn.Conv2d(channels, channels * self.expansion, 1, bias=False),
            nn.BatchNorm2d(channels * self.expansion),
        )


# torchlens: ResNet(BasicBlock, (2, 2, 2)).eval()(torch.randn(4, 3, 32, 32))
# torchlens[train]: ResNet(Bottleneck, (1, 2), drop_rate=0.2)(torch.randn(4, 3, 48, 40))
class ResNet(nn.Module):
    def __init__(
        self,
        block: type[Residual],
        depths: tuple[int, ...],
        width: int = 16,
        classes: int = 10,
        drop_rate: float = 0.0,
    ):
        super().__init__()
        self.stem = nn.Conv2d(3, width, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(width)
        rates = torch.linspace(0.0, drop_rate, sum(depths)).tolist()
        self.stages = nn.ModuleList()
        inside = width
        for index, depth in enumerate(depths):
            channels = width * 2**index
            blocks = []
            for position in range(depth):
                stride = 2 if index > 0 and position == 0 else 1
                blocks.append(block(inside, channels, stride, rates.pop(0)))
                inside = channels * block.expansion
            self.stages.append(nn.Sequential(*blocks))
        self.head = nn.Linear(inside, classes)

    def forward(self, images: Tensor) -> dict[str, Tensor]:
        x = F.relu(self.norm(self.stem(images)))
        if min(x.shape[-2:]) > 32:
            x = F.max_pool2d(x, 3, stride=2, padding=1)
        outputs = {}
        for index, stage in enumerate(self.stages, start=1):
            x = stage(x)
            outputs[f"stage{index}"] = x
        pooled = x.mean(dim=(2, 3))
        outputs["logits"] = self.head(pooled)
        return outputs
