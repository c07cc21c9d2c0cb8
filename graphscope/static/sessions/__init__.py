"""Define-then-run with the words of TensorFlow 1: sessions, variables, and functions that build graphs."""
