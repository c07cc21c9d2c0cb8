"""One node, looked at from all sides."""
