"""A dict tells its tensors by key, as many as fit."""

import torch


# torchlens: losses({"x": torch.ones(2, 10), "y": torch.zeros(2, dtype=torch.long), "name": "batch"})
def losses(batch):
#   ^ hint batch {x: f32[2, 10], y: i64[2]}
    out = {"loss": batch["x"].mean(), "logits": batch["x"]}
    #     ^ hint {loss: [], logits: [2, 10]}
    hidden = {f"hidden_state_{i}": batch["x"] for i in range(4)}
    #        ^ hint {hidden_state_0: [2, 10], +3 more}
    settings = {"alpha": 0.5}
    return {**out, "settings": settings, "hidden": hidden}
    #      ^ hint {loss: [],logits: [2,10],+1 more}
