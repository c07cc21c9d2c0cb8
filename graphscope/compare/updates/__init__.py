"""Why the update of a step parts two runs whose forward and backward passes agree: `update_parting`."""

from graphscope.compare.updates.parting import update_parting

__all__ = ["update_parting"]
