"""What recording costs, measured. `python -m benchmarks.capture` and its neighbours print tables and check limits."""
