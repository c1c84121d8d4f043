"""A training loop: what each turn had is told with the first batch, the last and smaller one counts as one more."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


# torchlens: train(nn.Linear(4, 3), TensorDataset(torch.ones(10, 4), torch.zeros(10).long()))
def train(model, data):
    losses = []
    for x, y in DataLoader(data, batch_size=4):
    #           ^ hint ×3, [4, 4] +1, i64[4] +1
        logits = model(x)
        #        ^ hint [4, 3] +1
        loss = F.cross_entropy(logits, y)
        #      ^ hint []
        loss.backward()
        model.weight.data -= 0.1 * model.weight.grad
        losses.append(loss.detach())
    return torch.stack(losses).mean()
    #      ^ hint []
