"""A mixture of experts: each token goes to its two best experts, if they have room."""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass
class Routed:
    output: Tensor
    balance: Tensor
    """How unevenly the tokens were spread, 1 at best."""
    dropped: int
    """How many times a token found its expert full."""


class Expert(nn.Module):
    def __init__(self, width: int, hidden: int):
        super().__init__()
        self.up = nn.Linear(width, hidden)
        self.down = nn.Linear(hidden, width)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.down(F.gelu(self.up(tokens)))


class Router(nn.Module):
    """Scores every expert for every token, and keeps the best `top_k` of them."""

    def __init__(self, width: int, experts: int, top_k: int, jitter: float = 0.01):
        super().__init__()
        self.top_k = top_k
        self.jitter = jitter
        self.score = nn.Linear(width, experts, bias=False)

    def forward(self, tokens: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        if self.training and self.jitter > 0:
            tokens = tokens * torch.empty_like(tokens).uniform_(
                1 - self.jitter, 1 + self.jitter
            )
        probabilities = self.score(tokens).softmax(dim=-1)
        weights, chosen = probabilities.topk(self.top_k, dim=-1)
        weights = weights / weights.sum(dim=-1, keepdim=True)
        return weights, chosen, probabilities


class MixtureOfExperts(nn.Module):
    """One expert that every token visits, and several of which each visits a few.

    An expert takes `capacity` times its fair share of tokens at most: those that want
    it most. For the others that visit is left out.
    """

    def __init__(
        self, width: int, experts: int = 8, top_k: int = 2, capacity: float = 1.25
    ):
        super().__init__()
        self.capacity = capacity
        self.router = Router(width, experts, top_k)
        self.experts = nn.ModuleList(Expert(width, 2 * width) for _ in range(experts))
        self.shared = Expert(width, width)

    def forward(self, x: Tensor) -> Routed:
        tokens = x.flatten(0, -2)
        weights, chosen, probabilities = self.router(tokens)
        room = int(self.capacity * chosen.numel() / len(self.experts))

        # each expert works on all of its tokens at once
        output = self.shared(tokens)
        load = [0] * len(self.experts)
        dropped = 0
        for index, expert in enumerate(self.experts):
            token, slot = (chosen == index).nonzero(as_tuple=True)
            if token.numel() == 0:
                continue
            if token.numel() > room:
                best = weights[token, slot].topk(room).indices
                dropped += token.numel() - room
                token, slot = token[best], slot[best]
            load[index] = token.numel()
            result = expert(tokens[token]) * weights[token, slot, None]
            output = output.index_add(0, token, result)

        # 1 if every expert has the same share, more the less even it is
        share = torch.tensor(load) / sum(load)
        balance = len(self.experts) * (share * probabilities.mean(dim=0)).sum()
        return Routed(output.view_as(x), balance, dropped)


class Layer(nn.Module):
    """Attention, then one MLP for all tokens or a mixture of them."""

    def __init__(self, width: int, heads: int, sparse: bool):
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.norm2 = nn.LayerNorm(width)
        self.mlp = MixtureOfExperts(width) if sparse else Expert(width, 4 * width)

    def forward(self, x: Tensor, padding: Tensor | None) -> tuple[Tensor, Tensor | None]:
        h = self.norm1(x)
        attended, _ = self.attention(h, h, h, key_padding_mask=padding, need_weights=False)
        x = x + attended
        match self.mlp(self.norm2(x)):
            case Routed(output, balance, dropped):
                if dropped:
                    balance = balance * (1 + dropped / output.shape[:-1].numel())
                return x + output, balance
            case output:
                return x + output, None


# torchlens: Classifier()(torch.randint(1, 50, (2, 7)))
# torchlens[padded]: Classifier().eval()(torch.tensor([[7, 7, 7, 7, 0], [3, 9, 4, 0, 0]]))
class Classifier(nn.Module):
    """Classes of whole texts, every other layer sparse. Token 0 is padding."""

    def __init__(
        self, vocabulary: int = 50, width: int = 32, layers: int = 4, classes: int = 5
    ):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width, padding_idx=0)
        self.layers = nn.ModuleList(
            Layer(width, 4, sparse=i % 2 == 1) for i in range(layers)
        )
        self.head = nn.Linear(width, classes)

    def forward(self, tokens: Tensor) -> dict[str, Tensor]:
        padding = tokens == 0
        x = self.embed(tokens)
        penalties = []
        for layer in self.layers:
            x, balance = layer(x, padding if padding.any() else None)
            if balance is not None:
                penalties.append(balance)

        real = (~padding).unsqueeze(-1)
        pooled = (x * real).sum(dim=1) / real.sum(dim=1)
        return {"logits": self.head(pooled), "penalty": torch.stack(penalties).mean()}
