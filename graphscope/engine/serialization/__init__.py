"""Tensors in files: written as safetensors, read from these and from archives of `torch.save`, without running code."""
