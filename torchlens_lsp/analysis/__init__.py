"""From a trace document to what a user is told: pure functions, plain data, no IO, no torch, no LSP types."""
