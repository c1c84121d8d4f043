"""How a tensor's type is written in an error's words: jaxtyping's names, `f32[8, 64]`."""

from __future__ import annotations

from ...document.values import TensorMeta
from ..wording import dtype_name

_SCALAR_TYPES = {
    "double": "float64",
    "float": "float32",
    "half": "float16",
    "bfloat16": "bfloat16",
    "long": "int64",
    "long int": "int64",
    "int": "int32",
    "short": "int16",
    "char": "int8",
    "signed char": "int8",
    "byte": "uint8",
    "unsigned char": "uint8",
    "bool": "bool",
    "complexfloat": "complex64",
    "complexdouble": "complex128",
    "complexhalf": "complex32",
    "c10::half": "float16",
    "c10::bfloat16": "bfloat16",
    "c10::complex<float>": "complex64",
    "c10::complex<double>": "complex128",
}
"""torch's own words for dtypes in its messages, in lower case (`c10/core/ScalarType.h` and the C types)."""


def dtype_of_message(word: str) -> str | None:
    """The dtype that torch's messages call by this word: `float32` for `Float`, `float`, `torch.FloatTensor`."""
    plain = word.strip().removeprefix("torch.").removeprefix("cuda.").lower()
    if plain in _SCALAR_TYPES.values():
        return plain
    return _SCALAR_TYPES.get(plain.removesuffix("tensor"))


def sizes_text(shape: tuple[int | str, ...]) -> str:
    """`[8, 64]`."""
    return "[" + ", ".join(str(size) for size in shape) + "]"


def tensor_text(meta: TensorMeta) -> str:
    """`f32[8, 64]`."""
    return dtype_name(meta.dtype) + sizes_text(meta.shape)
