"""The person's own file."""
