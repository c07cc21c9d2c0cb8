"""What ops compute and how their gradients are made, as people write it: data for whoever produces a log."""
