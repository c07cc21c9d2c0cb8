"""Views: ways to draw a recording. Each is an entry of one table, and is written by the exporters of pictures."""

# The built-in views enter the table when their modules are loaded.
from graphscope.exporters.views import chain, memory, neurons, ops, passes, tensors  # noqa: F401
from graphscope.exporters.views.view_table import VIEWS, View, view

__all__ = ["VIEWS", "View", "view"]
