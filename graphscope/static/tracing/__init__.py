"""Functions as graphs of one of their runs: traced, guarded, compiled."""
