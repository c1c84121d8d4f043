"""A decoder-only language model: rotary positions, grouped queries, a cache."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass
class Config:
    vocabulary: int = 96
    width: int = 64
    layers: int = 3
    heads: int = 8
    kv_heads: int = 2
    context: int = 32
    rope_base: float = 10_000.0

    @property
    def head_width(self) -> int:
        return self.width // self.heads


def rope_table(config: Config) -> Tensor:
    """Cosine and sine of the angle of each position, for each pair of features."""
    steps = torch.arange(0, config.head_width, 2) / config.head_width
    positions = torch.arange(config.context)
    angles = torch.outer(positions, config.rope_base**-steps).unsqueeze(1)
    return torch.stack([angles.cos(), angles.sin()])


def rotate(x: Tensor, rope: Tensor) -> Tensor:
    """Turn each pair of features by the angle of its position."""
    cos, sin = rope
    even, odd = x[..., 0::2], x[..., 1::2]
    turned = torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1)
    return turned.flatten(-2)


@dataclass
class Cache:
    """Keys and values of the tokens seen so far, one entry a layer."""

    keys: list[Tensor] = field(default_factory=list)
    values: list[Tensor] = field(default_factory=list)

    @property
    def length(self) -> int:
        return self.keys[0].shape[1] if self.keys else 0

    def extend(self, layer: int, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        if layer == len(self.keys):
            self.keys.append(k)
            self.values.append(v)
        else:
            self.keys[layer] = torch.cat([self.keys[layer], k], dim=1)
            self.values[layer] = torch.cat([self.values[layer], v], dim=1)
        return self.keys[layer], self.values[layer]


class Attention(nn.Module):
    """Causal self-attention in which groups of query heads share their keys and values.

    With a cache, `x` is what came after the tokens in it, and attends to all of them.
    """

    def __init__(self, config: Config, layer: int):
        super().__init__()
        self.config = config
        self.layer = layer
        kv_width = config.kv_heads * config.head_width
        self.query = nn.Linear(config.width, config.width, bias=False)
        self.key_value = nn.Linear(config.width, 2 * kv_width, bias=False)
        self.out = nn.Linear(config.width, config.width, bias=False)

    def forward(self, x: Tensor, rope: Tensor, cache: Cache | None = None) -> Tensor:
        B, T, _ = x.shape
        c = self.config
        q = self.query(x).view(B, T, c.heads, c.head_width)
        kv = self.key_value(x).view(B, T, 2 * c.kv_heads, c.head_width)
        k, v = kv.chunk(2, dim=2)
        q, k = rotate(q, rope), rotate(k, rope)
        if cache is not None:
            k, v = cache.extend(self.layer, k, v)
        S = k.shape[1]

        # t and s are places, g is the group of heads, h the head in it
        q = q.unflatten(2, (c.kv_heads, -1)) / c.head_width**0.5
        scores = torch.einsum("btghd,bsgd->bghts", q, k)
        if T > 1:
            ahead = torch.ones(T, S, dtype=torch.bool).triu(S - T + 1)
            scores = scores.masked_fill(ahead, float("-inf"))
        mixed = torch.einsum("bghts,bsgd->btghd", scores.softmax(dim=-1), v)
        return self.out(mixed.reshape(B, T, c.width))


class Block(nn.Module):
    """Attention, then a gated MLP, each on the normed stream and added to it."""

    def __init__(self, config: Config, layer: int):
        super().__init__()
        self.attention_norm = nn.LayerNorm(config.width)
        self.attention = Attention(config, layer)
        self.mlp_norm = nn.LayerNorm(config.width)
        self.gate = nn.Linear(config.width, 2 * config.width)
        self.up = nn.Linear(config.width, 2 * config.width)
        self.down = nn.Linear(2 * config.width, config.width)

    def forward(self, x: Tensor, rope: Tensor, cache: Cache | None = None) -> Tensor:
        x = x + self.attention(self.attention_norm(x), rope, cache)
        h = self.mlp_norm(x)
        h = F.silu(self.gate(h)) * self.up(h)
        return x + self.down(h)


# torchlens: LanguageModel(Config())(torch.randint(96, (2, 12)),
#                                    targets=torch.randint(96, (2, 12)))
class LanguageModel(nn.Module):
    """The whole model.

    With `targets` it gives the logits of every token and their loss, else of the last.
    """

    def __init__(self, config: Config):
        super().__init__()
        self.config = config
        self.embed = nn.Embedding(config.vocabulary, config.width)
        self.blocks = nn.ModuleList(Block(config, layer) for layer in range(config.layers))
        self.norm = nn.LayerNorm(config.width)
        self.register_buffer("rope", rope_table(config), persistent=False)
        nn.init.normal_(self.embed.weight, std=0.02)

    def forward(
        self, tokens: Tensor, cache: Cache | None = None, targets: Tensor | None = None
    ) -> tuple[Tensor, Tensor | None]:
        start = cache.length if cache is not None else 0
        end = start + tokens.shape[1]
        if end > self.config.context:
            raise ValueError(f"{end} tokens, but a context of {self.config.context}")

        x = self.embed(tokens)
        rope = self.rope[:, start:end]
        for block in self.blocks:
            x = block(x, rope, cache)
        if targets is None:
            return self.unembed(x[:, -1:]), None
        logits = self.unembed(x)
        return logits, F.cross_entropy(logits.flatten(0, 1), targets.flatten())

    def unembed(self, x: Tensor) -> Tensor:
        """Logits, by the very vectors that tokens are embedded with."""
        return F.linear(self.norm(x), self.embed.weight)


# torchlens[generate]: generate(LanguageModel(Config()).eval(), torch.randint(96, (1, 5)))
@torch.no_grad()
def generate(
    model: LanguageModel,
    tokens: Tensor,
    max_new_tokens: int = 6,
    top_k: int | None = 20,
    stop: int = 0,
) -> Tensor:
    """Sample a continuation: the prompt goes through whole, then each token by itself."""
    cache = Cache()
    step = tokens
    for _ in range(max_new_tokens):
        logits = model(step, cache)[0][:, -1]
        if top_k is not None:
            best, _ = logits.topk(top_k)
            logits = logits.masked_fill(logits < best[:, -1:], float("-inf"))
        step = torch.multinomial(logits.softmax(dim=-1), 1)
        tokens = torch.cat([tokens, step], dim=1)
        if (step == stop).all():
            break
    return tokens
