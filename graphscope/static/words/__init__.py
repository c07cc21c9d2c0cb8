"""The functions of TensorFlow 1, argument for argument: each written once, for tensors with values and without."""
