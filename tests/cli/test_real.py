"""The command as its user runs it: a process of its own, a real worker, real torch."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from torchlens_lsp.document import expand

pytestmark = [pytest.mark.torch, pytest.mark.timeout(120)]

ROOT = Path(__file__).resolve().parents[2]
COMMAND = [sys.executable, "-m", "torchlens_lsp"]

LAYERS = """\
    import torch

    def halve(x):
        if x.dim() > 3:
            x = x.flatten(1)
        return x / 2
    """
NET = """\
    import torch
    from torch import nn
    from layers import halve

    # torchlens: Net()(torch.ones(2, 3))
    # torchlens[wide]: Net()(torch.ones(2, 8))
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.head = nn.Linear(3, 4)

        def forward(self, x):
            print("running")
            h = halve(x)
            return self.head(h)
    """
HANGS = """\
    import time
    # torchlens: wait()
    def wait():
        while True:
            time.sleep(0.01)
    """


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, text in {"net.py": NET, "layers.py": LAYERS, "hangs.py": HANGS}.items():
        (tmp_path / name).write_text(textwrap.dedent(text), encoding="utf-8")
    return tmp_path.resolve()


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def run(project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [*COMMAND, *arguments, "--python", sys.executable]
    return subprocess.run(command, cwd=project, env=environment(), capture_output=True, text=True, timeout=100)


def without_times(out: str) -> str:
    """The output without the last line's times, and with the example's in words."""
    source, _, last = out.rstrip("\n").rpartition("\n")
    source = re.sub(r"ran in [\d.,]+ m?s", "ran in TIME", source)
    return f"{source}\n{last.partition(' ops')[0]} ops"


def test_a_models_source_with_what_happened(project: Path) -> None:
    done = run(project, "trace", "net.py", "--example", "default")
    assert done.returncode == 0, done.stderr
    assert without_times(done.stdout) == textwrap.dedent(
        """\
          import torch
          from torch import nn
          from layers import halve

          # torchlens: Net()(torch.ones(2, 3))   ┊ ran in TIME
          # torchlens[wide]: Net()(torch.ones(2, 8))
          class Net(nn.Module):
              def __init__(self):
                  super().__init__()
                  self.head = nn.Linear(3, 4)

              def forward(self, x):              ┊ x f32[2, 3]
                  print("running")
                  h = halve(x)                   ┊ [2, 3]
                  return self.head(h)            ┊ [2, 4]

        ── layers.py
          import torch

          def halve(x):         ┊ x f32[2, 3]
              if x.dim() > 3:   ┊ False, x.dim() = 2
        ░         x = x.flatten(1)
              return x / 2      ┊ [2, 3]
        ok · 2 ops"""
    )
    assert "the run printed" not in done.stderr


def test_a_wrong_shape(project: Path) -> None:
    done = run(project, "trace", "net.py", "--example", "wide")
    assert done.returncode == 1
    lines = done.stdout.split("\n")
    at = next(number for number, line in enumerate(lines) if "return self.head(h)" in line)
    assert lines[at] == "          return self.head(h)"
    assert lines[at + 1] == "                 ~~~~~~~~~~~~"
    assert any("mat1 and mat2 shapes cannot be multiplied (2x8 and 3x4)" in line for line in lines[at + 2 : at + 6])
    assert lines[-2].startswith("error · net.py:15 · RuntimeError: mat1 and mat2 shapes cannot be multiplied")
    assert done.stderr.endswith("the run printed:\nrunning\n")


def test_all_examples_as_json_fit_the_schema(project: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    done = run(project, "trace", "net.py", "--format", "json")
    assert done.returncode == 1
    documents = json.loads(done.stdout)
    assert [(each["example"]["name"], each["status"]) for each in documents] == [("default", "ok"), ("wide", "error")]
    jsonschema.validate(documents, expand.schema())


def test_a_configuration_reaches_the_run(project: Path) -> None:
    (project / "pyproject.toml").write_text(
        textwrap.dedent(
            """\
            [tool.torchlens-lsp]
            env = { FACTOR = "3" }
            [[tool.torchlens-lsp.examples]]
            file = "factor.py"
            call = "scale(batch)"
            setup = "batch = torch.ones(2, dtype=torch.float64)"
            grad = false
            """
        ),
        encoding="utf-8",
    )
    (project / "factor.py").write_text(
        "import os, torch\ndef scale(x):\n    assert not torch.is_grad_enabled()\n"
        "    return x * int(os.environ['FACTOR'])\n",
        encoding="utf-8",
    )
    done = run(project, "trace", "factor.py", "--format", "json")
    assert done.returncode == 0, done.stdout
    [document] = json.loads(done.stdout)
    assert document["output"]["stats"]["max"] == 3.0
    assert document["output"]["dtype"] == "float64"


def test_check_finds_a_nan_and_no_infinity(project: Path) -> None:
    (project / "net.py").write_text(
        "import torch\n# torchlens[mask]: f(torch.zeros(2))\n# torchlens[nan]: f(-torch.ones(2))\n"
        "def f(x):\n    return x.log()\n",
        encoding="utf-8",
    )
    done = run(project, "check", "net.py")
    assert done.returncode == 1
    mask, nan, last, _ = done.stdout.split("\n")
    assert mask.startswith("ok     net.py  mask  1 op · ")
    assert nan == "NaN    net.py  nan   2 of 2 are NaN in log_1_1 (net.py:5), the first of the run"
    assert last == "2 examples: 1 ok, 1 NaN"


def test_a_run_that_hangs_ends_at_its_deadline_and_says_where(project: Path) -> None:
    done = run(project, "trace", "hangs.py", "--timeout", "1")
    assert done.returncode == 3
    last = done.stdout.rstrip("\n").split("\n")[-1]
    assert last.startswith("timeout · hangs.py:")
    assert "still here after 1 s" in last


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["ctrl-c", "terminated"]
)
def test_what_ends_the_command_ends_its_run(project: Path, number: signal.Signals, code: int) -> None:
    marker = project / "began"
    (project / "hangs.py").write_text(
        f"import os, time\n# torchlens: wait()\ndef wait():\n"
        f"    open({str(marker)!r}, 'w').write(str(os.getpid()))\n    time.sleep(1000)\n",
        encoding="utf-8",
    )
    process = subprocess.Popen(
        [*COMMAND, "trace", "hangs.py", "--python", sys.executable],
        cwd=project,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 60
    while not (marker.exists() and marker.read_text()) and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(number)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (code, "")
    assert "Traceback" not in err
    with pytest.raises(ProcessLookupError):
        os.kill(int(marker.read_text()), 0)
