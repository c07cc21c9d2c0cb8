"""Clients of the server: the SDK's own, over the standard streams of another process."""
