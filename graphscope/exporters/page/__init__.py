"""What the page of a graph is made of: all that it shows, as plain columns, and the one file that they go into."""

from graphscope.exporters.page.document import asset, document
from graphscope.exporters.page.page_data import page_data

__all__ = ["asset", "document", "page_data"]
