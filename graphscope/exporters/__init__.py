"""Pictures and data of computation graphs: DOT, SVG, PNG, PDF, HTML and JSON of a log, a graph or a tensor."""

# The built-in exporters enter the table when their modules are loaded.
from graphscope.exporters import dot, html, json, model_explorer, model_explorer_data, pdf, png, svg, trace  # noqa: F401
from graphscope.exporters.export import export
from graphscope.exporters.options import Option
from graphscope.exporters.registry import EXPORTERS, Exporter, exporter, load_extensions
from graphscope.exporters.views import VIEWS, View

__all__ = ["EXPORTERS", "VIEWS", "Exporter", "Option", "View", "export", "exporter", "load_extensions"]
