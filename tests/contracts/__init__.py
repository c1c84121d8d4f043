"""Which part imports what."""
