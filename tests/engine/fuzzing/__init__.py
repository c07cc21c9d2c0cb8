"""Random programs, run on this engine and on PyTorch side by side."""
