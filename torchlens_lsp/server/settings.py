"""The settings: one table, from which they are checked, and from which docs/configuration.md is written.

Every key that `[tool.torchlens-lsp]` of a pyproject.toml may hold is a row here, and nothing else is. Where values come
from is `config`'s business; which interpreter runs a file is no setting of a project's (`interpreter` says why).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..document.request import MODES
from .settings_kinds import (
    Boolean,
    Count,
    FileName,
    Kind,
    Memory,
    OneOf,
    Seconds,
    Seed,
    Text,
    Texts,
    TextsByText,
    TextsOf,
)

TABLE = "torchlens-lsp"
"""The table's name under `tool`."""
EXAMPLES = "examples"
GUARDED = ("write", "process", "network")
"""What an example may be allowed to do when it runs without being asked for."""


@dataclass(frozen=True)
class Setting:
    """One key of a table."""

    name: str
    kind: Kind
    default: Any
    """What it is where it is not set; of a key that has to be set, None."""
    description: str
    """Markdown."""
    example: str
    """The key with a value, as TOML."""
    default_text: str = ""
    """How the default is described, where the value itself would not tell."""
    is_required: bool = False


SETTINGS = (
    Setting(
        "timeout",
        Seconds(),
        20.0,
        "How long building the model and the call may take together. At the deadline the run ends, and what it has "
        "done so far is shown, with the line and the loop that it was in.",
        "timeout = 60",
    ),
    Setting(
        "import-timeout",
        Seconds(),
        120.0,
        "How long the interpreter, torch and the file's own imports may take.",
        "import-timeout = 300",
    ),
    Setting(
        "memory",
        Memory(),
        None,
        "How much memory a run may use, with all processes that it starts, before it is ended.",
        'memory = "24 GB"',
        default_text="half of what is free, at most 16 GB",
    ),
    Setting(
        "threads",
        Count(),
        None,
        "On how many threads torch runs one operation during the call. Import and build always run on one.",
        "threads = 1",
        default_text="half of the cores",
    ),
    Setting(
        "watch",
        Texts(),
        (),
        "What is recorded beside the file itself and the project's files that it imports: paths, relative to "
        "`pyproject.toml` (a folder stands for all below it), globs (`**` for any number of folders), or "
        "`package:NAME` for an installed package.",
        'watch = ["../shared/layers.py", "package:timm.layers"]',
    ),
    Setting(
        "env",
        TextsByText(),
        {},
        "Environment variables for the run.",
        'env = { TOKENIZERS_PARALLELISM = "false" }',
    ),
    Setting(
        "load",
        OneOf(("asked", "all")),
        "asked",
        "Whether a run that nobody asked for by name, such as on opening the file in an editor, goes through the "
        'top-level loops of a script: `"all"` runs them, `"asked"` passes over them and what depends on them. '
        "`torchlens-lsp trace` and `check` are asked for by name, and run everything.",
        'load = "all"',
    ),
)

EXAMPLE_SETTINGS = (
    Setting(
        "file",
        FileName(),
        None,
        "The file that the example is of, relative to `pyproject.toml`. The call is evaluated in its namespace.",
        'file = "src/net.py"',
        is_required=True,
    ),
    Setting(
        "call",
        Text(),
        None,
        "The call expression. Its outermost call is what is traced.",
        'call = "Net(num_classes=10)(batch)"',
        is_required=True,
    ),
    Setting(
        "name",
        Text(),
        "",
        "What the example is called. No two examples of a file may have the same name.",
        'name = "train batch"',
        default_text="`default`, `default 2` and so on",
    ),
    Setting(
        "setup",
        Text(),
        "",
        "Statements that run before the call's parts are evaluated, in the same namespace.",
        'setup = "batch = torch.randn(8, 3, 32, 32)"',
    ),
    Setting(
        "mode",
        OneOf(MODES),
        MODES[0],
        "Whether the modules of the call are put into evaluation or training mode first, or left as they are.",
        'mode = "eval"',
    ),
    Setting(
        "grad", Boolean(), True, "Whether gradients are recorded, as they are outside of `no_grad`.", "grad = false"
    ),
    Setting("seed", Seed(), 0, "The seed of torch, `random` and numpy, before import, build and call.", "seed = 1234"),
    Setting(
        "device",
        Text(),
        "cpu",
        "Where the modules and tensors of the call are moved to. CUDA is hidden from a run unless its example asks for "
        "it, here or in its text.",
        'device = "cuda:0"',
    ),
    Setting(
        "dims",
        TextsByText(),
        {},
        "Names for the dimensions of the call's tensors, by the name of the variable that holds them. Hints that show "
        "names read them; the command line shows numbers.",
        'dims = { batch = "B C H W" }',
    ),
    Setting(
        "allow",
        TextsOf(GUARDED),
        (),
        "What the example may do when an editor runs it without being asked: `write` files outside of its temporary "
        "folder, start a `process`, use the `network`. `torchlens-lsp trace` and `check` are asked, and forbid "
        "nothing.",
        'allow = ["write"]',
    ),
)
