"""Gradients on their way: backward passes, paths from tensors to losses, why a gradient is missing, zero or small."""
