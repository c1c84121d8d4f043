"""`torch.compile` during a recording: compiled code runs eagerly, and its caches stay as they were."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any


class EagerStance:
    """Compiled functions run eagerly until `stack` closes. `was_asked` tells whether any was called."""

    def __init__(self, stack: ExitStack) -> None:
        self.was_asked = False
        # Nothing can have been compiled before the compiler was imported, and importing it takes a second.
        if "torch._dynamo" not in sys.modules:
            return
        import torch

        set_stance = getattr(getattr(torch, "compiler", None), "set_stance", None)
        if set_stance is None:  # before 2.6
            config = torch._dynamo.config
            stack.callback(setattr, config, "disable", config.disable)
            config.disable = True
        else:
            stack.enter_context(set_stance("force_eager"))
            self._listen(torch._dynamo.eval_frame, stack)

    def _listen(self, eval_frame: Any, stack: ExitStack) -> None:
        """Every call of a compiled function asks which stance is in force."""
        original: Callable[..., Any] | None = getattr(eval_frame, "_callback_from_stance", None)
        if original is None:
            return

        def _callback_from_stance(*arguments: Any) -> Any:
            self.was_asked = True
            return original(*arguments)

        eval_frame._callback_from_stance = _callback_from_stance
        stack.callback(setattr, eval_frame, "_callback_from_stance", original)
