"""`python -m torchlens_lsp`: the same as the `torchlens-lsp` script."""

from __future__ import annotations

import sys

from .cli import main

if __name__ == "__main__":
    sys.exit(main())
