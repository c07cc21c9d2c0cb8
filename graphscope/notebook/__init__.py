"""The page and pictures in a notebook."""

from graphscope.notebook.extension import load_ipython_extension
from graphscope.notebook.show import repr_svg, show
from graphscope.notebook.still import Picture, Still

__all__ = ["Picture", "Still", "load_ipython_extension", "repr_svg", "show"]
