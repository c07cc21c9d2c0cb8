"""Why the update of a step parts two runs whose forward and backward passes agree: `update_parting`."""

from graphscope.compare.updates.carried import carried, made_by
from graphscope.compare.updates.parting import update_parting

__all__ = ["carried", "made_by", "update_parting"]
