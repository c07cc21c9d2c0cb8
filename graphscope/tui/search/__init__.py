"""Search while one types."""
