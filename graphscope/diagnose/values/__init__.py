"""Values of forward nodes: where they come from, what ops do to them, and how they stop to be finite."""
