"""Looking at a tensor without being noticed: torch's functions as they were at import, and who else is listening.

Everything here is bound once, so that a program that patches torch later neither sees our reads nor changes them. Only
the hot path reads `_version`, `requires_grad`, `layout`, `is_cpu` and `_base` as attributes, of tensors of no subclass:
that takes a third less time, and nobody has reason to patch those.
Names that some supported torch lacks have a stand-in that says what is true there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

_C: Any = torch._C
Base: Any = getattr(_C, "TensorBase", None) or _C._TensorBase

# --- torch function modes ---------------------------------------------------------------------------------------------

_guard = _C.DisableTorchFunction()
enter_quiet: Callable[[], Any] = _guard.__enter__
"""Switch every torch function mode and `__torch_function__` of this thread off, until `leave_quiet`.

One guard, reused, costs half of a new one for each read. It does not nest: who enters twice before leaving never
gets out, so `ValueRecorder` admits one read at a time.
"""
_exit: Callable[[Any, Any, Any], Any] = _guard.__exit__


def leave_quiet() -> None:
    """Undo `enter_quiet`. (The hot path calls `leave_guard(None, None, None)` itself.)"""
    _exit(None, None, None)


leave_guard = _exit

# --- reading attributes, past whatever a subclass or a patch puts over them -------------------------------------------

get_shape: Callable[[Any], Any] = Base.shape.__get__
get_dtype: Callable[[Any], torch.dtype] = Base.dtype.__get__
get_device: Callable[[Any], torch.device] = Base.device.__get__
get_layout: Callable[[Any], torch.layout] = Base.layout.__get__
get_requires_grad: Callable[[Any], bool] = Base.requires_grad.__get__
get_version: Callable[[Any], int] = Base._version.__get__
get_base: Callable[[Any], Any] = Base._base.__get__
get_storage: Callable[[Any], Any] = getattr(Base, "untyped_storage", torch.Tensor.untyped_storage)
get_count: Callable[[Any], int] = Base.numel
get_dim: Callable[[Any], int] = Base.dim
get_size: Callable[[Any, int], Any] = Base.size
get_stride: Callable[[Any], tuple[int, ...]] = Base.stride
get_itemsize: Callable[[Any], int] = Base.element_size
get_storage_offset: Callable[[Any], int] = Base.storage_offset
is_inference: Callable[[Any], bool] = Base.is_inference
is_nested: Callable[[Any], bool] = Base.is_nested.__get__
is_conj: Callable[[Any], bool] = Base.is_conj
is_neg: Callable[[Any], bool] = Base.is_neg
is_contiguous: Callable[[Any], bool] = Base.is_contiguous
_symbolic: Any = getattr(Base, "_has_symbolic_sizes_strides", None)
has_symbolic_sizes: Callable[[Any], bool] = _symbolic.__get__ if _symbolic is not None else lambda tensor: False

_alias: Callable[[Any, Any], bool] | None = getattr(_C, "_is_alias_of", None)
is_alias: Callable[[Any, Any], bool] = _alias or (
    lambda one, other: bool(get_storage(one)._cdata == get_storage(other)._cdata)
)
"""Whether two tensors share their storage."""

# --- computing --------------------------------------------------------------------------------------------------------

aminmax: Callable[..., Any] = _C._VariableFunctions.aminmax
total: Callable[..., Any] = _C._VariableFunctions.sum
item: Callable[[Any], Any] = Base.item
tolist: Callable[[Any], Any] = Base.tolist
contiguous: Callable[[Any], Any] = Base.contiguous
as_strided: Callable[..., Any] = Base.as_strided
narrow: Callable[[Any, int, int, int], Any] = Base.narrow
convert: Callable[..., Any] = Base.to
not_equal: Callable[[Any, Any], Any] = Base.ne
equal: Callable[[Any, Any], Any] = Base.eq
count_nonzero: Callable[[Any], Any] = Base.count_nonzero
masked_select: Callable[[Any, Any], Any] = Base.masked_select
subtract: Callable[[Any, Any], Any] = Base.sub
vector_norm: Callable[[Any], Any] = torch.linalg.vector_norm
view_as_real: Callable[[Any], Any] = _C._VariableFunctions.view_as_real
conjugate: Callable[[Any], Any] = Base.conj
negated_view: Callable[[Any], Any] = _C._VariableFunctions._neg_view
coo_values: Callable[[Any], Any] = Base._values
compressed_values: Callable[[Any], Any] = Base.values

set_grad: Callable[[bool], Any] = _C._set_grad_enabled
is_grad_enabled: Callable[[], bool] = torch.is_grad_enabled

# --- who is listening -------------------------------------------------------------------------------------------------

dispatch_modes: Callable[[], int] = _C._len_torch_dispatch_stack
"""How many dispatch modes (FakeTensorMode among them) would see an operation."""
is_tracing: Callable[[], bool] = _C._is_tracing
tracing_state: Callable[[], Any] = _C._get_tracing_state
set_tracing_state: Callable[[Any], Any] = _C._set_tracing_state
transform: Callable[[], Any] = _C._functorch.peek_interpreter_stack
"""The innermost functorch transform (`vmap`, `grad`), or None."""
is_wrapped: Callable[[Any], bool] = _C._functorch.is_functorch_wrapped_tensor
is_profiling: Callable[[], bool] = _C._autograd._profiler_enabled


def is_capturing(device_type: str) -> bool:
    """Whether a CUDA graph is being captured, which any read of a value would break."""
    return device_type == "cuda" and bool(torch.cuda.is_current_stream_capturing())
