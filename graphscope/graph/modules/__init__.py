"""The modules of a program as a map: what each call took and gave, what flowed between them, and what it cost."""

from graphscope.graph.modules.map import Flow, Half, ModuleBox, ModuleMap, box_of_call, calls_of, module_map
from graphscope.graph.modules.parameters import Parameter
from graphscope.graph.modules.step_rows import Call, StepRows, step_rows

__all__ = [
    "Call",
    "Flow",
    "Half",
    "ModuleBox",
    "ModuleMap",
    "Parameter",
    "StepRows",
    "box_of_call",
    "calls_of",
    "module_map",
    "step_rows",
]
