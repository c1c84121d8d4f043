"""A tree LSTM: it runs over the parse of a sentence, by the tree's own recursion."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class ChildSum(nn.Module):
    """A node of a Child-Sum Tree-LSTM (Tai, Socher and Manning, 2015)."""

    def __init__(self, width: int, hidden: int):
        super().__init__()
        self.from_word = nn.Linear(width, 3 * hidden)
        self.from_children = nn.Linear(hidden, 3 * hidden, bias=False)
        self.forget = nn.Linear(hidden, hidden)

    def forward(self, x: Tensor | None, h: Tensor, c: Tensor) -> tuple[Tensor, Tensor]:
        gates = self.from_children(h.sum(dim=0))
        if x is not None:
            gates = gates + self.from_word(x)
        i, o, u = gates.chunk(3, dim=-1)
        kept = torch.sigmoid(self.forget(h)) * c
        cell = i.sigmoid() * u.tanh() + kept.sum(dim=0)
        return o.sigmoid() * cell.tanh(), cell


@dataclass
class Node:
    word: int | None = None
    children: list[Node] = field(default_factory=list)
    label: int | None = None

    def __iter__(self) -> Iterator[Node]:
        """All nodes, children before their parents."""
        for child in self.children:
            yield from child
        yield self


def parse(text: str) -> Node:
    """Read a tree such as `(3 (2 4 7) 5)`: a label, then words and further trees."""
    tokens = text.replace("(", " ( ").replace(")", " ) ").split()

    def read() -> Node:
        token = tokens.pop(0)
        if token != "(":
            return Node(word=int(token))
        node = Node(label=int(tokens.pop(0)))
        while tokens[0] != ")":
            node.children.append(read())
        tokens.pop(0)
        return node

    return read()


# torchlens: TreeClassifier()(parse("(3 (2 4 7) (1 (0 9 2 11) 5))"))
# torchlens[one word]: TreeClassifier().eval()(parse("4"))
class TreeClassifier(nn.Module):
    """A class for every node of a tree, trained on those that have a label."""

    def __init__(
        self, words: int = 16, width: int = 12, hidden: int = 20, classes: int = 5
    ):
        super().__init__()
        self.hidden = hidden
        self.embed = nn.Embedding(words, width)
        self.cell = ChildSum(width, hidden)
        self.classify = nn.Linear(hidden, classes)

    def encode(self, node: Node, depth: int = 0) -> tuple[Tensor, Tensor, list[Tensor]]:
        """State and memory of a node, and the states of all nodes from there down."""
        if not node.children:
            below = []
            h = c = torch.zeros(1, self.hidden)
        else:
            encoded = [self.encode(child, depth + 1) for child in node.children]
            h = torch.stack([state for state, _, _ in encoded])
            c = torch.stack([memory for _, memory, _ in encoded])
            below = [state for _, _, states in encoded for state in states]

        x = self.embed(torch.tensor(node.word)) if node.word is not None else None
        state, memory = self.cell(x, h, c)
        if depth == 0 and self.training:
            state = F.dropout(state, 0.1)
        return state, memory, [*below, state]

    def forward(self, tree: Node) -> dict[str, Tensor]:
        _, _, states = self.encode(tree)
        logits = self.classify(torch.stack(states))
        labels = [-1 if node.label is None else node.label for node in tree]
        labelled = [i for i, label in enumerate(labels) if label >= 0]
        out = {"logits": logits, "root": logits[-1].softmax(dim=-1)}
        if labelled:
            out["loss"] = F.cross_entropy(logits[labelled], torch.tensor(labels)[labelled])
        return out
