"""The request on its way to the worker."""

from __future__ import annotations

import json
from typing import Any

import pytest

from torchlens_lsp.document.model import Range
from torchlens_lsp.document.request import ExampleSpec, RequestError, RunRequest

FULL = RunRequest(
    "/project/model.py",
    "/project",
    ExampleSpec(
        "train", "f(x)", "x = 1", "train", False, 3, "cuda:0", "pyproject", "file:///p.toml", Range(1, 2, 3, 4)
    ),
    overlays={"/project/model.py": "é\r\n\ud800"},
    watch=("package:timm", "lib/**"),
    timeout=3.5,
    import_timeout=60,
    threads=2,
    env={"A": "b"},
    argv=("--fast",),
    statistics=False,
)


@pytest.mark.parametrize("request_", [FULL, RunRequest("/m.py", "/", ExampleSpec(call="f()"))])
def test_a_request_survives_json(request_: RunRequest) -> None:
    assert RunRequest.from_json(json.loads(json.dumps(request_.to_json()))) == request_


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("file", None, "request.file is no str"),
        ("root", 3, "request.root is no str"),
        ("timeout", 0, "request.timeout is no positive number of seconds"),
        ("timeout", True, "request.timeout is no positive number of seconds"),
        ("threads", "2", "request.threads is no int"),
        ("watch", ["a", 1], "request.watch is no list of str"),
        ("overlays", {"a": 1}, "request.overlays is no object of str"),
        ("statistics", 1, "request.statistics is no bool"),
        ("example", [], "request.example is no dict"),
        ("example.mode", "quick", "request.example.mode is 'quick', not one of as-is, eval, train"),
        ("example.seed", True, "request.example.seed is no int"),
        ("example.range", [1, 2, 3], "request.example.range is no range"),
        ("example.range", [1, 2, 3, -4], "request.example.range is no range"),
    ],
)
def test_what_is_no_request_is_refused_by_the_name_of_its_field(field: str, value: Any, message: str) -> None:
    data = FULL.to_json()
    target = data
    *path, last = field.split(".")
    for name in path:
        target = target[name]
    target[last] = value
    with pytest.raises(RequestError, match=message.replace(".", r"\.")):
        RunRequest.from_json(data)


def test_anything_but_an_object_is_refused() -> None:
    with pytest.raises(RequestError, match="request is no object"):
        RunRequest.from_json([])
