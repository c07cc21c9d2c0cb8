"""Scripting: functions that become graphs with control flow from their source, not from a run."""

from graphscope.static.script.scripted import Scripted as Scripted
from graphscope.static.script.scripted import script as script
from graphscope.static.script.subset import ScriptError as ScriptError
