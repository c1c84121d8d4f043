"""Run the tests on every CPython that the machine has, and once on the oldest torch that is supported.

On each CPython from 3.10 to 3.13 the tests that need no torch; on CPython 3.10 all of them with torch 2.1. Each runs
in an environment of its own under `.venvs/`, which is kept. Exits 1 if any run failed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VERSIONS = ("3.10", "3.11", "3.12", "3.13")
OLDEST_TORCH_ON = "3.10"
PROBE = "import sys; print('%d.%d' % sys.version_info[:2])"


@dataclass(frozen=True)
class Run:
    """One environment and what is installed in it."""

    name: str
    version: str
    group: str


RUNS = (
    *(Run(f"python {version}, no torch", version, "test") for version in VERSIONS),
    Run(f"python {OLDEST_TORCH_ON}, torch 2.1", OLDEST_TORCH_ON, "oldest"),
)


def find_interpreter(version: str) -> str | None:
    """Return an interpreter of that version from the search path or from pyenv, None where there is none."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = [shutil.which(f"python{version}"), *map(str, sorted(pyenv.glob(f"{version}.*/bin/python3"), reverse=True))]
    return next((path for path in found if path and _version_of(path) == version), None)


def _version_of(interpreter: str) -> str | None:
    """Ask the interpreter itself: a name on the search path may be a stand-in that starts another, or nothing."""
    done = subprocess.run([interpreter, "-c", PROBE], capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else None


def run(which: Run, interpreter: str) -> bool:
    """Make the environment where it is missing, run the tests in it, and say whether they passed."""
    environment = ROOT / ".venvs" / f"{which.version}-{which.group}"
    python = environment / "bin" / "python"
    subprocess.run([interpreter, "-m", "venv", environment], check=True)
    for arguments in (["--upgrade", "pip>=25.1"], ["--group", which.group, "--editable", "."]):
        subprocess.run([python, "-m", "pip", "install", "--quiet", *arguments], check=True, cwd=ROOT)
    return subprocess.run([python, "-m", "pytest", "-q", "-n", "auto"], cwd=ROOT).returncode == 0


def main() -> int:
    """Run all and print one line for each."""
    outcomes: dict[str, str] = {}
    for which in RUNS:
        interpreter = find_interpreter(which.version)
        if interpreter is None:
            outcomes[which.name] = "not on this machine"
            continue
        print(f"== {which.name}", flush=True)
        try:
            outcomes[which.name] = "passed" if run(which, interpreter) else "FAILED"
        except subprocess.CalledProcessError as error:
            outcomes[which.name] = f"FAILED to install: {error}"
    print()
    for name, outcome in outcomes.items():
        print(f"{name:24} {outcome}")
    return int(any(outcome.startswith("FAILED") for outcome in outcomes.values()))


if __name__ == "__main__":
    sys.exit(main())
