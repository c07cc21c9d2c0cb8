"""The whole run in two lines."""
