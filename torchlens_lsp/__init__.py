"""torchlens-lsp: what a PyTorch model really did, written onto its source.

Importing this package loads nothing else of it, and never torch: the language server starts in an interpreter that
need not have torch, and the tracer runs in interpreters where nothing of ours is installed.
"""

from __future__ import annotations

__version__ = "0.1.0"

__all__ = ["__version__"]
