"""The command language, and what it answers."""
