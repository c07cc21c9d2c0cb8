"""Pictures and data of computation graphs: DOT, SVG, PNG, PDF, HTML and JSON of a log, a graph or a tensor."""

# The built-in exporters enter the table when their modules are loaded.
from graphscope.exporters import dot, html, json, model_explorer, model_explorer_data, pdf, png, svg, trace  # noqa: F401
from graphscope.exporters.export import export
from graphscope.exporters.registry import EXPORTERS, Exporter, Option, exporter, load_extensions

__all__ = ["EXPORTERS", "Exporter", "Option", "export", "exporter", "load_extensions"]
