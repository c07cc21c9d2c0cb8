"""The version of graphscope."""

__version__ = "0.1.0"
