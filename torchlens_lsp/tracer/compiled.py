"""`torch.compile` during a recording: compiled code runs eagerly, and its caches stay as they were."""

from __future__ import annotations

import sys
from contextlib import ExitStack


def run_eagerly(stack: ExitStack) -> bool:
    """Let compiled functions run eagerly until `stack` closes; whether there may be any.

    Nothing can have been compiled before the compiler was imported, and importing it takes a second.
    """
    if "torch._dynamo" not in sys.modules:
        return False
    import torch

    set_stance = getattr(getattr(torch, "compiler", None), "set_stance", None)
    if set_stance is not None:  # since 2.6
        stack.enter_context(set_stance("force_eager"))
        return True
    config = torch._dynamo.config
    before, config.disable = config.disable, True
    stack.callback(setattr, config, "disable", before)
    return True
