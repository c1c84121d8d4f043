"""A tagger for sentences of different lengths: a packed LSTM under a CRF."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence


class Crf(nn.Module):
    """A linear chain: how well a tag fits its word, and how well it follows the last."""

    def __init__(self, tags: int):
        super().__init__()
        self.start = nn.Parameter(torch.randn(tags) * 0.1)
        self.end = nn.Parameter(torch.randn(tags) * 0.1)
        self.follow = nn.Parameter(torch.randn(tags, tags) * 0.1)

    def log_likelihood(self, scores: Tensor, tags: Tensor, mask: Tensor) -> Tensor:
        """How likely these tags are among all that the words could have."""
        return self.path_score(scores, tags, mask) - self.log_partition(scores, mask)

    def path_score(self, scores: Tensor, tags: Tensor, mask: Tensor) -> Tensor:
        """The score of one path of tags through each sentence."""
        emitted = scores.gather(2, tags.unsqueeze(-1)).squeeze(-1)
        followed = self.follow[tags[:, :-1], tags[:, 1:]]
        last = tags.gather(1, mask.sum(dim=1, keepdim=True) - 1).squeeze(1)
        total = (emitted * mask).sum(dim=1) + (followed * mask[:, 1:]).sum(dim=1)
        return total + self.start[tags[:, 0]] + self.end[last]

    def log_partition(self, scores: Tensor, mask: Tensor) -> Tensor:
        """The sum over all paths, step by step (the forward algorithm)."""
        alpha = self.start + scores[:, 0]
        for step in range(1, scores.shape[1]):
            through = alpha.unsqueeze(2) + self.follow + scores[:, step].unsqueeze(1)
            alpha = torch.where(mask[:, step, None], through.logsumexp(dim=1), alpha)
        return (alpha + self.end).logsumexp(dim=1)

    def decode(self, scores: Tensor, mask: Tensor) -> list[list[int]]:
        """The best tags of each sentence, by Viterbi's algorithm."""
        best = self.start + scores[:, 0]
        arrivals = []
        for step in range(1, scores.shape[1]):
            through = best.unsqueeze(2) + self.follow
            values, sources = through.max(dim=1)
            best = torch.where(mask[:, step, None], values + scores[:, step], best)
            arrivals.append(sources)
        final = (best + self.end).argmax(dim=1)

        paths = []
        for row, length in enumerate(mask.sum(dim=1).tolist()):
            tag = final[row].item()
            path = [tag]
            for sources in reversed(arrivals[: length - 1]):
                tag = sources[row, tag].item()
                path.append(tag)
            paths.append(path[::-1])
        return paths


class Batch(NamedTuple):
    """Sentences as word numbers, padded to the longest."""

    words: Tensor
    lengths: Tensor
    tags: Tensor | None = None

    @classmethod
    def of(cls, sentences: list[list[int]], tags: list[list[int]] | None = None) -> Batch:
        words = pad_sequence([torch.tensor(s) for s in sentences], batch_first=True)
        lengths = torch.tensor([len(s) for s in sentences])
        if tags is None:
            return cls(words, lengths)
        padded = pad_sequence([torch.tensor(t) for t in tags], batch_first=True)
        return cls(words, lengths, padded)


# torchlens: Tagger(40, tags=5).eval()(Batch.of([[4, 8, 15, 16], [7, 3], [9, 1, 30]]))
# torchlens[loss]: Tagger(40, tags=5)(Batch.of([[4, 8, 15], [7]], [[0, 1, 4], [2]]))
class Tagger(nn.Module):
    def __init__(
        self, words: int, tags: int, width: int = 24, hidden: int = 16, dropout: float = 0.2
    ):
        super().__init__()
        self.embed = nn.Embedding(words, width, padding_idx=0)
        self.lstm = nn.LSTM(
            width, hidden, num_layers=2, bidirectional=True, batch_first=True
        )
        self.dropout = nn.Dropout(dropout)
        self.score = nn.Linear(2 * hidden, tags)
        self.crf = Crf(tags)

    def forward(self, batch: Batch) -> Tensor | list[list[int]]:
        mask = torch.arange(batch.words.shape[1]) < batch.lengths[:, None]
        embedded = self.dropout(self.embed(batch.words))
        packed = pack_padded_sequence(
            embedded, batch.lengths, batch_first=True, enforce_sorted=False
        )
        hidden, (state, _) = self.lstm(packed)
        features, lengths = pad_packed_sequence(hidden, batch_first=True)
        assert torch.equal(lengths, batch.lengths)

        sentence = torch.cat([state[-2], state[-1]], dim=-1)
        scores = self.score(self.dropout(features + sentence.unsqueeze(1)))
        if batch.tags is None:
            return self.crf.decode(scores, mask)
        return -self.crf.log_likelihood(scores, batch.tags, mask).mean()
