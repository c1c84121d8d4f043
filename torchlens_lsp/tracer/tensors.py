"""Rows of tensors: the same tensor in the same state is one row of the value table.

A state is the tensor's identity (see `identity`) and its version counter.
A tensor made under `inference_mode` has no version counter: it is taken to be unchanged only while `sees_operations`
says that every operation passes the tracer and none has begun.

Not seen are changes that leave the counter alone: through `.data`, numpy, dlpack, and the running statistics that
`batch_norm` updates. Who knows of one calls `changed`.

All methods but `changed` and `forget` are called with function modes off (`quiet.enter_quiet`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import ref

import torch

from ..document.values import (
    HAS_INF,
    HAS_MEAN,
    HAS_NAN,
    HAS_RANGE,
    HAS_STD,
    IS_SAMPLED,
    NOT_READ,
    TENSOR,
    Stats,
    TensorMeta,
    ValueTable,
)
from . import metadata, quiet, statistics
from .budget import REFUSED, Budget
from .identity import PlaceInStorage, is_parameter, refers_to
from .metadata import Meta

METADATA, WATCHED, READ = 0, 1, 2
"""What is known of a state: metadata; also whether it has NaN or Inf; all statistics."""

MAX_STATES = 100_000
"""Tensors that are remembered; beyond it all are seen as new once more."""
State = tuple[Any, int, bool, int, int, Meta]
"""(reference, version, requires_grad, row, level, metadata)"""

_WATCHED_FIGURES = HAS_NAN | HAS_INF
_ALL_FIGURES = HAS_RANGE | HAS_MEAN | HAS_STD | _WATCHED_FIGURES

_UNKNOWN = -1
"""Version of a tensor that may have changed at any time."""

_Tensor = torch.Tensor
_get_shape, _get_dtype, _get_device = quiet.get_shape, quiet.get_dtype, quiet.get_device
_get_layout, _get_requires_grad, _get_version = quiet.get_layout, quiet.get_requires_grad, quiet.get_version
_get_storage, _total, _item, _is_inference = quiet.get_storage, quiet.total, quiet.item, quiet.is_inference
_is_alias = quiet.is_alias
_get_offset, _is_contiguous = quiet.get_storage_offset, quiet.is_contiguous
_is_tracing, _dispatch_modes, _is_profiling = quiet.is_tracing, quiet.dispatch_modes, quiet.is_profiling
_transform, _set_grad, _is_grad_enabled = quiet.transform, quiet.set_grad, quiet.is_grad_enabled


class TensorRecorder:
    """Puts tensors into a value table."""

    def __init__(
        self,
        table: ValueTable,
        budget: Budget,
        read_statistics: bool,
        sees_operations: Callable[[], bool] | None,
    ) -> None:
        self.states: dict[int, State] = {}
        """By id; the reference is a weak one. Only tensors of no subclass that have a version counter are here."""
        self.full_level = READ if read_statistics else METADATA
        """What has to be known of a state whose statistics are wanted; METADATA: no element is ever read."""
        self.operations = 0
        """How many operations have begun."""
        self._other_states: dict[int, State] = {}
        self._table = table
        self._budget = budget
        self._sees_operations = sees_operations
        self._inference_tensors = False
        """Whether one was met: asking each tensor costs more than one exception."""
        self._metas: dict[tuple[Any, ...], Meta] = {}
        self._described: dict[TensorMeta, Meta] = {}
        self._metadata_rows: dict[int, int] = {}
        """Rows of tensors of which nothing but the metadata is known, by index of it."""
        self._all_finite = table.statistics.append(Stats(*statistics.ALL_FINITE))
        figures = table.statistics
        self._flags = figures.flags
        self._add_figures = tuple(
            column.append
            for column in (
                figures.flags, figures.min, figures.max, figures.mean, figures.std, figures.nan, figures.inf,
            )
        )  # fmt: skip
        self._kinds = table.kind
        self._add_kind, self._add_ref, self._add_stats = table.kind.append, table.ref.append, table.stats.append

    # --- the hot path -------------------------------------------------------------------------------------------------

    def look(self, tensor: Any, output: bool, full: bool, source: Any = None) -> int:
        """The same as `observe_output` or `observe`, sooner, for a `torch.Tensor` (no subclass) not met before.

        `source`: a tensor of which `tensor` shows some elements, if it shares its storage.
        """
        if _is_tracing() or (self._inference_tensors and _is_inference(tensor) and self._is_known(tensor)):
            return self.observe_output(tensor) if output else self.observe(tensor, full)
        try:
            version = self._version(tensor) if self._inference_tensors else tensor._version
            requires_grad = tensor.requires_grad
            key: tuple[Any, ...] = _get_shape(tensor), _get_dtype(tensor), tensor.layout, requires_grad
            meta = self._metas[key if tensor.is_cpu else (*key, _get_device(tensor))]
        except (KeyError, RuntimeError):
            return self.observe_output(tensor) if output else self.observe(tensor, full)
        if output and self.full_level:
            stats = self._all_finite
            if not (meta.quick and self._is_finite(tensor, meta, version, requires_grad, source)):
                stats = self._watch(tensor, meta, version)
            row, level = len(self._kinds), WATCHED
            self._add_kind(TENSOR)
            self._add_ref(meta.row)
            self._add_stats(stats)
        else:
            if full and self.full_level and meta.kind and (started := self._start(tensor, meta)) != REFUSED:
                return self._read(tensor, meta, version, requires_grad, None, started)
            known = self._metadata_rows.get(meta.row)
            if known is None:
                return self.observe(tensor, False)
            row, level = known, METADATA
        self._remember(tensor, version, requires_grad, row, level, meta)
        return row

    def _is_finite(self, tensor: Any, meta: Meta, version: int, requires_grad: bool, source: Any) -> bool:
        """What `_watch` finds, sooner, for what most operations give: a storage of its own, all of it, or a view.

        False where it is not known.
        """
        if _dispatch_modes() or _is_profiling() or _transform() is not None:
            return False
        off = requires_grad and _is_grad_enabled()
        try:
            if source is not None and _is_alias(tensor, source):
                state = self.states.get(id(source))
                if (
                    state is not None
                    and state[0]() is source
                    and state[1] == version
                    and _get_dtype(source) is _get_dtype(tensor)
                    and self._is_known_finite(state)
                ):
                    return True
            if _get_storage(tensor).nbytes() != meta.size or _get_offset(tensor) or not _is_contiguous(tensor):
                return False
            value: float
            if meta.elements <= statistics.TINY:
                value = sum(statistics.listed(tensor))
            else:
                if off:
                    _set_grad(False)
                value = _item(_total(tensor))
            return value - value == 0.0
        except Exception:
            return False
        finally:
            if off:
                _set_grad(True)

    # --- all tensors --------------------------------------------------------------------------------------------------

    def observe(self, tensor: Any, full: bool, class_name: str = "Tensor") -> int:
        """Row of a tensor; with its statistics if `full` and there is time."""
        version = self._version(tensor)
        state = self._state(tensor, version)
        meta = state[5] if state is not None else self._meta(tensor, class_name)
        if full and self.full_level and meta.kind and (state is None or state[4] < READ):
            started = self._start(tensor, meta)
            if started != REFUSED:
                return self._read(tensor, meta, version, _get_requires_grad(tensor), state, started)
        if state is not None:
            return state[3]
        row = self._metadata_rows.get(meta.row)
        if row is None:
            row = self._metadata_rows[meta.row] = self._table.append(TENSOR, meta.row)
        self._remember(tensor, version, _get_requires_grad(tensor), row, METADATA, meta)
        return row

    def observe_output(self, tensor: Any, class_name: str = "Tensor") -> int:
        """Row, its own, of a tensor that an operation just gave: whether it has NaN or Inf is known."""
        version = self._version(tensor)
        if not self.full_level:
            return self.observe(tensor, False, class_name)
        state = self._state(tensor, version)
        if state is not None and state[4] >= WATCHED:
            return state[3]
        meta = state[5] if state is not None else self._meta(tensor, class_name)
        row = self._table.append(TENSOR, meta.row, self._watch(tensor, meta, version))
        self._remember(tensor, version, _get_requires_grad(tensor), row, WATCHED, meta)
        return row

    def changed(self, tensor: object) -> None:
        """Forget the state of a tensor, which may have changed without its version counter."""
        self.states.pop(id(tensor), None)
        self._other_states.pop(id(tensor), None)

    def forget(self) -> None:
        """Drop every reference to tensors and classes of the user's."""
        self.states.clear()
        self._other_states.clear()

    # --- identity -----------------------------------------------------------------------------------------------------

    def _version(self, tensor: Any) -> int:
        if not self._inference_tensors or not _is_inference(tensor):
            try:
                return _get_version(tensor)
            except RuntimeError:
                self._inference_tensors = True
        if self._sees_operations is not None and self._sees_operations():
            return _UNKNOWN - 1 - self.operations
        return _UNKNOWN

    def _is_known(self, tensor: Any) -> bool:
        return self._state(tensor, self._version(tensor)) is not None

    def _state(self, tensor: Any, version: int) -> State | None:
        state = self.states.get(id(tensor))
        if state is None or state[0]() is not tensor:
            state = self._other_states.get(id(tensor))
            if state is None or not refers_to(state[0], tensor):
                return None
        if state[1] != version or version == _UNKNOWN or state[2] != _get_requires_grad(tensor):
            return None
        return state

    def _remember(self, tensor: Any, version: int, requires_grad: bool, row: int, level: int, meta: Meta) -> None:
        if version < 0 or type(tensor) is not _Tensor:
            self._remember_otherwise(tensor, version, requires_grad, row, level, meta)
            return
        if len(self.states) >= MAX_STATES:
            self.states.clear()
        self.states[id(tensor)] = ref(tensor), version, requires_grad, row, level, meta

    def _remember_otherwise(
        self, tensor: Any, version: int, requires_grad: bool, row: int, level: int, meta: Meta
    ) -> None:
        reference: type[Any] = ref
        if version == _UNKNOWN:
            return
        if is_parameter(tensor):
            if not meta.size:
                return  # there is no storage to know it by
            reference = PlaceInStorage
        if len(self._other_states) >= MAX_STATES:
            self._other_states.clear()
        self._other_states[id(tensor)] = reference(tensor), version, requires_grad, row, level, meta

    # --- metadata -----------------------------------------------------------------------------------------------------

    def _meta(self, tensor: Any, class_name: str) -> Meta:
        tracing = quiet.tracing_state() if _is_tracing() else None
        if tracing is not None:
            quiet.set_tracing_state(None)  # or reading a shape would add to the graph that is being traced
        try:
            if type(tensor) is not _Tensor or quiet.is_nested(tensor) or quiet.has_symbolic_sizes(tensor):
                return self._described_as(tensor, class_name)
            key: tuple[Any, ...]
            key = _get_shape(tensor), _get_dtype(tensor), _get_layout(tensor), _get_requires_grad(tensor)
            device = _get_device(tensor)
            if device.type != "cpu":
                key = (*key, device)
            meta = self._metas.get(key)
            if meta is None:
                meta = self._metas[key] = self._described_as(tensor, class_name)
            return meta
        finally:
            if tracing is not None:
                quiet.set_tracing_state(tracing)

    def _described_as(self, tensor: Any, class_name: str) -> Meta:
        described = metadata.describe(tensor, class_name)
        meta = self._described.get(described)
        if meta is None:
            meta = metadata.interned(tensor, described, len(self._table.metas))
            self._table.metas.append(described)
            self._described[described] = meta
        return meta

    # --- elements -----------------------------------------------------------------------------------------------------

    def _watch(self, tensor: Any, meta: Meta, version: int) -> int:
        """Statistics id that says how many elements of a tensor are NaN or Inf."""
        if not meta.watched:
            return NOT_READ if meta.kind == statistics.OPAQUE else self._all_finite
        if not _operations_unheard(tensor):
            return NOT_READ
        base = quiet.get_base(tensor)
        if base is not None and self._is_finite_view(tensor, base, version):
            return self._all_finite
        if meta.device != "cpu" and quiet.is_capturing(meta.device):
            return NOT_READ
        had_grad = _is_grad_enabled()
        _set_grad(False)
        try:
            counts = _count_not_finite(tensor, meta)
        except Exception:
            return NOT_READ
        finally:
            _set_grad(had_grad)
        if counts == (0, 0):
            return self._all_finite
        return NOT_READ if counts is None else self._table.statistics.append(Stats(nan=counts[0], inf=counts[1]))

    def _is_finite_view(self, tensor: Any, base: Any, version: int) -> bool:
        """Whether `tensor`, a view of `base`, needs no look because all of `base` is known to be finite."""
        state = self._state(base, version)  # they share the counter
        if state is None or not self._is_known_finite(state):
            return False
        # A view by another dtype has other numbers; one of a part of a storage can reach beyond that part.
        return (
            _get_dtype(base) is _get_dtype(tensor)
            and _get_storage(base).nbytes() == state[5].size
            and _is_contiguous(base)
        )

    def _is_known_finite(self, state: State) -> bool:
        if state[4] == METADATA:
            return False
        stats = self._table.stats[state[3]]
        if stats == self._all_finite:
            return True
        if stats == NOT_READ:
            return False
        figures = self._table.statistics
        was_watched = figures.flags[stats] & _WATCHED_FIGURES == _WATCHED_FIGURES
        return was_watched and not figures.nan[stats] and not figures.inf[stats]

    def _start(self, tensor: Any, meta: Meta) -> float:
        """When reading the statistics of `tensor` began, REFUSED if they may not be read now."""
        if meta.stored or not _operations_unheard(tensor):
            return REFUSED
        if meta.device != "cpu" and quiet.is_capturing(meta.device):
            return REFUSED
        return self._budget.start(meta.elements)

    def _read(
        self, tensor: Any, meta: Meta, version: int, requires_grad: bool, state: State | None, started: float
    ) -> int:
        """Row of a tensor with all its statistics."""
        off = requires_grad and _is_grad_enabled()
        if off:
            _set_grad(False)
        try:
            stats = self._store(*statistics.read(tensor, meta.kind, meta.elements, meta.size))
        except Exception:
            stats = NOT_READ
        finally:
            if off:
                _set_grad(True)
            self._budget.end(started)
        if state is not None and state[4] == WATCHED:
            row = state[3]
            if stats != NOT_READ:
                self._table.stats[row] = stats
        else:
            row = len(self._kinds)
            self._add_kind(TENSOR)
            self._add_ref(meta.row)
            self._add_stats(stats)
        self._remember(tensor, version, requires_grad, row, READ, meta)
        return row

    def _store(self, *figures: Any) -> int:
        """Statistics id of (min, max, mean, std, NaN, Inf, sampled)."""
        if None in figures:
            return NOT_READ if figures == statistics.NOTHING_READ else self._table.statistics.append(Stats(*figures))
        # `Statistics.append`, sooner, for the common case that everything was read.
        lowest, highest, mean, deviation, nan, inf, sampled = figures
        add_flags, add_min, add_max, add_mean, add_std, add_nan, add_inf = self._add_figures
        add_flags(_ALL_FIGURES | IS_SAMPLED if sampled else _ALL_FIGURES)
        add_min(lowest)
        add_max(highest)
        add_mean(mean)
        add_std(deviation)
        add_nan(nan)
        add_inf(inf)
        return len(self._flags) - 1


def _operations_unheard(tensor: Any) -> bool:
    """Whether an operation on `tensor` would pass without anybody's dispatch mode, trace, profile or transform."""
    return not (
        _dispatch_modes() or _is_tracing() or _is_profiling() or (_transform() is not None and quiet.is_wrapped(tensor))
    )


def _count_not_finite(tensor: Any, meta: Meta) -> tuple[int, int] | None:
    if not meta.stored:
        return statistics.watch(tensor, meta.kind, meta.elements, meta.size)
    values = metadata.stored_elements(tensor, meta.stored)
    count = quiet.get_count(values)
    return statistics.watch(values, meta.kind, count, count * quiet.get_itemsize(values)) if count else (0, 0)
