"""The models that recording is timed on: convolutions, attention, many small operations, a long loop.

`benchmarks.capture` watches this file. Everything here is written as a user would, and needs torch alone.
"""

from __future__ import annotations

from itertools import pairwise

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class BasicBlock(nn.Module):
    def __init__(self, inside: int, outside: int, stride: int):
        super().__init__()
        self.conv1 = nn.Conv2d(inside, outside, 3, stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(outside)
        self.conv2 = nn.Conv2d(outside, outside, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(outside)
        self.downsample = None
        if stride != 1 or inside != outside:
            self.downsample = nn.Sequential(nn.Conv2d(inside, outside, 1, stride, bias=False), nn.BatchNorm2d(outside))

    def forward(self, x: Tensor) -> Tensor:
        identity = x
        out = F.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        if self.downsample is not None:
            identity = self.downsample(x)
        out = out + identity
        return F.relu(out)


class ResNet18(nn.Module):
    """The ImageNet ResNet-18: 11.7 million parameters, 224 × 224 images."""

    def __init__(self, classes: int = 1000):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 7, stride=2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.maxpool = nn.MaxPool2d(3, stride=2, padding=1)
        widths = [64, 64, 128, 256, 512]
        self.layers = nn.ModuleList(
            nn.Sequential(BasicBlock(inside, outside, 1 if index == 0 else 2), BasicBlock(outside, outside, 1))
            for index, (inside, outside) in enumerate(pairwise(widths))
        )
        self.fc = nn.Linear(512, classes)

    def forward(self, x: Tensor) -> Tensor:
        x = F.relu(self.bn1(self.conv1(x)))
        x = self.maxpool(x)
        for layer in self.layers:
            x = layer(x)
        x = x.mean(dim=(2, 3))
        return self.fc(x)


class EncoderBlock(nn.Module):
    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.norm1 = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)
        self.norm2 = nn.LayerNorm(width)
        self.fc1 = nn.Linear(width, 4 * width)
        self.fc2 = nn.Linear(4 * width, width)

    def attend(self, x: Tensor) -> Tensor:
        B, N, C = x.shape
        qkv = self.qkv(x).reshape(B, N, 3, self.heads, C // self.heads).permute(2, 0, 3, 1, 4)
        q, k, v = qkv.unbind(0)
        x = F.scaled_dot_product_attention(q, k, v)
        x = x.transpose(1, 2).reshape(B, N, C)
        return self.proj(x)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attend(self.norm1(x))
        h = F.gelu(self.fc1(self.norm2(x)))
        return x + self.fc2(h)


class ViTTiny(nn.Module):
    """ViT-Ti/16: 12 layers of width 192, 197 tokens of a 224 × 224 image."""

    def __init__(self, width: int = 192, layers: int = 12, heads: int = 3, classes: int = 1000):
        super().__init__()
        self.patches = nn.Conv2d(3, width, 16, stride=16)
        self.cls = nn.Parameter(torch.zeros(1, 1, width))
        self.positions = nn.Parameter(torch.randn(1, 197, width) * 0.02)
        self.blocks = nn.ModuleList(EncoderBlock(width, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, classes)

    def forward(self, images: Tensor) -> Tensor:
        x = self.patches(images).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls.expand(x.shape[0], -1, -1), x], dim=1)
        x = x + self.positions
        for block in self.blocks:
            x = block(x)
        x = self.norm(x)
        return self.head(x[:, 0])


class GptBlock(nn.Module):
    """A block in small operations, each its own line, as in the teaching implementations."""

    def __init__(self, width: int, heads: int, context: int):
        super().__init__()
        self.heads = heads
        self.ln1 = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)
        self.ln2 = nn.LayerNorm(width)
        self.fc = nn.Linear(width, 4 * width)
        self.out = nn.Linear(4 * width, width)
        self.register_buffer("causal", torch.ones(context, context, dtype=torch.bool).tril())

    def forward(self, x: Tensor) -> Tensor:
        B, T, C = x.shape
        h = self.ln1(x)
        q, k, v = self.qkv(h).split(C, dim=2)
        q = q.view(B, T, self.heads, C // self.heads).transpose(1, 2)
        k = k.view(B, T, self.heads, C // self.heads).transpose(1, 2)
        v = v.view(B, T, self.heads, C // self.heads).transpose(1, 2)
        att = q @ k.transpose(-2, -1)
        att = att * (C // self.heads) ** -0.5
        att = att.masked_fill(~self.causal[:T, :T], float("-inf"))
        att = att.softmax(dim=-1)
        y = att @ v
        y = y.transpose(1, 2).reshape(B, T, C)
        x = x + self.proj(y)
        h = self.fc(self.ln2(x))
        h = F.gelu(h)
        return x + self.out(h)


class SmallGpt(nn.Module):
    """About 500 small operations: 19 blocks over 32 tokens of width 64."""

    def __init__(self, width: int = 64, layers: int = 19, heads: int = 4, context: int = 32, vocabulary: int = 256):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.positions = nn.Embedding(context, width)
        self.blocks = nn.ModuleList(GptBlock(width, heads, context) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.tokens(tokens) + self.positions(torch.arange(tokens.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


class CellLoop(nn.Module):
    """An LSTM cell stepped by hand over 500 steps of a batch of 8, width 64."""

    def __init__(self, width: int = 64):
        super().__init__()
        self.cell = nn.LSTMCell(width, width)
        self.read = nn.Linear(width, 1)

    def forward(self, steps: Tensor) -> Tensor:
        h = torch.zeros(steps.shape[1], steps.shape[2])
        c = torch.zeros_like(h)
        for step in steps:
            h, c = self.cell(step, (h, c))
        return self.read(h)


def resnet18() -> tuple[nn.Module, tuple[Tensor, ...]]:
    return ResNet18().eval(), (torch.randn(1, 3, 224, 224),)


def vit_tiny() -> tuple[nn.Module, tuple[Tensor, ...]]:
    return ViTTiny().eval(), (torch.randn(1, 3, 224, 224),)


def gpt_500_ops() -> tuple[nn.Module, tuple[Tensor, ...]]:
    return SmallGpt().eval(), (torch.randint(256, (1, 32)),)


def lstm_cell_500() -> tuple[nn.Module, tuple[Tensor, ...]]:
    return CellLoop().eval(), (torch.randn(500, 8, 64),)
