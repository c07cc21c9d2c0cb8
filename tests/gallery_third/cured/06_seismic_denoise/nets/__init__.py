from .blocks import ConvBlock, Stack

__all__ = ["ConvBlock", "Stack"]
