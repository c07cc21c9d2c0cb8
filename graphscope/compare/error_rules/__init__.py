"""How far apart two results of each op may be: a table of rules."""

from graphscope.compare.error_rules.table import RULES

__all__ = ["RULES"]
