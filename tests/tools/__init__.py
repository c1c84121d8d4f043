"""What the project's own commands do."""
