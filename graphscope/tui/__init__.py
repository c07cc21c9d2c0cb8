"""The terminal UI: source, graph, values and gradients side by side; one key steps a node forward or back."""
