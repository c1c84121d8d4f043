"""Pure functions from documents and source text; no torch."""
