"""Pictures in a notebook."""

from graphscope.notebook.show import Picture, repr_svg, show

__all__ = ["Picture", "repr_svg", "show"]
