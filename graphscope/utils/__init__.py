"""What goes with training: checkpoints and data, under the names that PyTorch's users look for."""
