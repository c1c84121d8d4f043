r"""The trace document: one run, recorded. The one model that tracer, worker, analysis and server share.

Events (evaluations, branch outcomes, loops) are columns of integers, because a run may have hundreds of thousands;
everything counted in tens or thousands is a list of small named tuples. All indices are into lists of the same
document. Ranges are LSP's: 0-based lines, UTF-16 characters, half-open; lines end at `\n`, `\r\n` and `\r` alone.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from typing import NamedTuple

from .values import ValueTable

SCHEMA = "torchlens-lsp.trace.v1"
NONE = -1
"""What an index column holds where there is nothing to point to."""

IMPORT, BUILD, CALL = 0, 1, 2
PHASES = ("import", "build", "call")

STATUSES = (
    "ok",
    "error",
    "bad-example",
    "timeout",
    "out-of-memory",
    "crashed",
    "cancelled",
    "stopped",
    "untrusted",
    "no-example",
)


class Range(NamedTuple):
    """An LSP range: 0-based lines, UTF-16 characters, end exclusive."""

    start_line: int
    start_character: int
    end_line: int
    end_character: int


class Site(NamedTuple):
    """One expression, binding, test or loop of the source at which the recorder looks."""

    kind: str
    """Of an expression, what it is: `name`, `attribute`, `subscript`, `call`, `binop`, `unaryop`, `boolop`,
    `compare`, `ifexp`, `comprehension`, `walrus`, `await`, `yield`, `tuple`, `list`, `dict`, `set`, `starred`.
    Of a binding: `target` (also of `for`, `with`, `+=`) or `parameter`.
    Of a test: `if`, `elif`, `while`, `assert`, `ifexp`, `match`, `filter` (of a comprehension), `and`, `or`
    (one operand of a boolean operation inside a test, with its own outcome). Of a loop: `for`, `while`."""
    role: str
    """Which table its events stand in: `evaluation`, `branch` or `loop`."""
    range: Range
    """The exact range of the expression (of a loop: of its statement's header)."""
    expr: str
    """Its source text."""
    function: int
    """Index into the file's `functions`."""


class Test(NamedTuple):
    """How a test is made, for naming what decided it."""

    site: int
    """The branch site, NONE for an operand that is not recorded by itself."""
    value: int
    """The evaluation site of the very expression, or NONE (a constant, a test by `not`)."""
    op: str
    """`and`, `or`, `not`, `truth` (the value's own truth) or a comparison as written, such as `<` or `is not`
    (`< <=` for a chain)."""
    operands: tuple[Test | int | str, ...]
    """For `and`, `or`, `not`: tests. For a comparison: each operand's evaluation site, or its text where the operand
    is a constant and has no site. For `truth`: empty."""
    expr: str


class Target(NamedTuple):
    """One target of a binding."""

    name: str
    """As written: `x`, `self.h`, `cache[i]`, `*rest`."""
    site: int
    """Evaluation site of kind `target`, or NONE where its value cannot be known without running user code."""
    end: tuple[int, int]
    """Line and UTF-16 character where the target ends."""


class Statement(NamedTuple):
    """One statement of a watched file, as hints need it."""

    kind: str
    """`assign`, `augassign`, `annassign`, `return`, `yield`, `expr`, `if`, `elif`, `while`, `for`, `assert`,
    `match`, `case`, `with`, `def`, `class`, `raise`, `try`, `import`, `other`."""
    range: Range
    """Of the whole statement with its body."""
    header_end: tuple[int, int]
    """Where the statement's own code ends: the whole of a simple statement, up to and including the colon (or the
    last token before it) of a compound one."""
    function: int
    """Index of the function it stands in (for a `def`: the enclosing one)."""
    targets: tuple[Target, ...] = ()
    value: int = NONE
    """Evaluation site of the assigned, returned, yielded or iterated expression, or NONE."""
    test: Test | None = None
    loop: int = NONE
    """Loop site of `for` and `while`."""
    chain: tuple[int, ...] = ()
    """Evaluation sites of the links of a method chain that is spread over several lines, first link first."""
    defines: int = NONE
    """For a `def`: index of the function it defines."""
    parent: int = NONE
    """Index of the compound statement it stands in, NONE at the top of a function or module."""
    arm: str = ""
    """Which block of `parent` it stands in: `body`, `else`, `except`, `finally`, or ``."""


class Function(NamedTuple):
    """One function (or lambda, or the module's own code) of a watched file."""

    name: str
    """Qualified name: `Net.forward`, `build.<locals>.inner`, `<lambda>`; `<module>` for index 0 of each file."""
    kind: str
    """`module`, `def`, `async def` or `lambda`."""
    range: Range
    """Of the whole definition."""
    name_range: Range
    """Of its name (of a lambda: the whole)."""
    header_end: tuple[int, int]
    """Where the header ends, the colon included."""
    parameters: tuple[int, ...]
    """Evaluation sites of kind `parameter`."""


@dataclass
class SourceFile:
    """One watched file: its sites, and what its code is made of."""

    uri: str
    sha256: str
    """Of the text's UTF-8 form as it was run (the buffer's, if there was an overlay)."""
    first_site: int = 0
    """Sites are numbered over all files: this file's are `first_site … first_site + len(sites) - 1`."""
    sites: list[Site] = field(default_factory=list)
    functions: list[Function] = field(default_factory=list)
    statements: list[Statement] = field(default_factory=list)
    not_run: list[int] = field(default_factory=list)
    """Indices of statements that were never reached in code that ran; only the outermost of each."""
    unwatched: list[str] = field(default_factory=list)
    """Parts of the file that run plain, and why."""


@dataclass
class Evaluations:
    """Every recorded evaluation, in the order of the run."""

    site: array[int] = field(default_factory=lambda: array("i"))
    value: array[int] = field(default_factory=lambda: array("i"))
    call: array[int] = field(default_factory=lambda: array("i"))

    def __len__(self) -> int:
        return len(self.site)


@dataclass
class Branches:
    """Every recorded outcome of a test, in order."""

    site: array[int] = field(default_factory=lambda: array("i"))
    outcome: array[int] = field(default_factory=lambda: array("B"))
    call: array[int] = field(default_factory=lambda: array("i"))
    at: array[int] = field(default_factory=lambda: array("i"))
    """How many evaluations had been recorded by then: places the event in the run's order."""

    def __len__(self) -> int:
        return len(self.site)


@dataclass
class Loops:
    """Every recorded execution of a loop, in the order of their starts."""

    site: array[int] = field(default_factory=lambda: array("i"))
    iterations: array[int] = field(default_factory=lambda: array("q"))
    call: array[int] = field(default_factory=lambda: array("i"))
    at: array[int] = field(default_factory=lambda: array("i"))

    def __len__(self) -> int:
        return len(self.site)


class Call(NamedTuple):
    """One invocation of a watched function."""

    file: int
    function: int
    module: str | None
    """Address of the module whose forward (or other method) this runs under, None outside any module."""
    module_pass: int
    """Which call of that module, from 1; 0 outside any module."""
    phase: int
    parent: int
    """Index of the watched call it came from, NONE for the outermost."""
    site: int
    """Evaluation site in the parent whose expression made the call, or NONE."""
    ended: str
    """`returned`, `raised`, or `running` (the run ended inside it)."""


class Op(NamedTuple):
    """One recorded torch call, or an input, a buffer or an output."""

    label: str
    """`linear_1_1`; with `:pass` where the layer ran more than once."""
    target: str
    """The called torch function's name: `linear`, `add_`; `input`, `buffer`, `output` for those."""
    pass_index: int
    module: str | None
    outputs: tuple[int, ...]
    """Value ids."""
    parents: tuple[int, ...]
    """Indices of ops."""
    file: int
    site: int
    """Evaluation site of the nearest watched expression, or NONE (then `range` may still know the line)."""
    range: Range | None
    call: int
    seconds: float
    at: int
    """How many evaluations had been recorded when it ended."""


class Module(NamedTuple):
    """One module of the traced call."""

    address: str
    """`layer3.1.conv2`; the outermost is ``."""
    type: str
    calls: int
    parameters: int
    """Number of parameter elements of its own and its children."""
    site: int
    """Evaluation site of the expression that made it, or NONE."""


class Operand(NamedTuple):
    """One value that went into what raised."""

    expr: str
    value: int
    site: int = NONE


class Frame(NamedTuple):
    """One frame of the stack at an error."""

    uri: str
    range: Range
    function: str


@dataclass
class RunError:
    """What ended a run early."""

    phase: str
    type: str
    message: str
    uri: str | None = None
    range: Range | None = None
    operands: list[Operand] = field(default_factory=list)
    stack: list[Frame] = field(default_factory=list)
    """Outermost first; watched and other frames of the user's side, ours left out."""
    call: int = NONE
    """The watched call in which it happened."""
    module: str | None = None
    """Address of the innermost module that was running."""
    op: str | None = None
    """The torch function that raised, if one did."""


@dataclass
class Example:
    """What was run."""

    name: str = "default"
    call: str = ""
    origin: str = ""
    """`comment`, `pyproject`, `main-block` or `command-line`."""
    uri: str | None = None
    range: Range | None = None
    """Where the example is written."""


@dataclass
class Durations:
    """Seconds; 0.0 for a phase that was not reached."""

    import_s: float = 0.0
    build_s: float = 0.0
    call_s: float = 0.0


@dataclass
class Document:
    """One run."""

    example: Example = field(default_factory=Example)
    status: str = "ok"
    durations: Durations = field(default_factory=Durations)
    error: RunError | None = None
    output: int = NONE
    values: ValueTable = field(default_factory=ValueTable)
    files: list[SourceFile] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    evaluations: Evaluations = field(default_factory=Evaluations)
    branches: Branches = field(default_factory=Branches)
    loops: Loops = field(default_factory=Loops)
    counts: array[int] = field(default_factory=lambda: array("q"))
    """True number of events by site: evaluations, outcomes, or executions of a loop."""
    ops: list[Op] = field(default_factory=list)
    modules: list[Module] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """What could not be recorded, and other things to say to the user, in full sentences."""
    dropped: dict[str, int] = field(default_factory=dict)
    """How many `evaluations`, `branches`, `loops`, `ops`, `calls` or `values` were left out by a budget or cap."""
    environment: dict[str, str] = field(default_factory=dict)
    """`python`, `torch`, `platform`: of the interpreter that ran it."""

    def site(self, site: int) -> Site:
        """The site of a global site number."""
        file = self.files[self.file_of(site)]
        return file.sites[site - file.first_site]

    def file_of(self, site: int) -> int:
        """Index of the file that a global site number belongs to."""
        for index, file in enumerate(self.files):
            if file.first_site <= site < file.first_site + len(file.sites):
                return index
        raise IndexError(f"no file holds site {site}")
