"""What is known of a call of a module, as lines: what it took and gave, what it cost, its parameters."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Final

import numpy as np
from rich.style import Style
from rich.text import Text

from graphscope.graph.modules import Call, ModuleBox, box_of_call, calls_of, step_rows
from graphscope.graph.quantities import time_text
from graphscope.graph.sizes import norms_of
from graphscope.tui.screen_text import escape, number, shape_text

if TYPE_CHECKING:
    from graphscope.graph.modules import Half, Parameter
    from graphscope.tui.glyphs import Glyphs
    from graphscope.tui.inspector.panel_table import View
    from graphscope.tui.scene import Scene

_MOST: Final = 40
"""Parameters that are listed."""
_NUMBERS: Final = 20
"""Cells that the norms of a parameter and of its gradient take."""
_LEAST: Final = 14
"""Cells that its name should have."""


def module_title(scene: Scene, call: Call) -> str:
    """What a module is called."""
    return f"module {scene.log.scope_path(call.scope)}"


def module_text(view: View, call: Call) -> Text:
    """The facts of a call."""
    scene, log = view.scene, view.scene.log
    made = Text()
    scope = log.scope(call.scope)
    box = box_of_call(scene.whole, call)
    if scope is None or box is None:
        made.append(module_title(scene, call), "bold")
        made.append("\n\nNo op ran in this call of it.", "muted")
        return made
    made.append(escape(scope.type or scope.name), "bold")
    made.append(f"\n{escape(box.path)}\n\n", "muted")
    for name, text in _facts(view, call, box):
        if text:
            made.append(f"{name:>10}  ", "muted")
            made.append(f"{escape(text)}\n")
    for name, half in (("forward", box.forward), ("backward", box.backward)):
        if half is not None:
            made.append(f"{name:>10}  ", name)
            _half(made, half)
    _parameters(made, view, box)
    return made


def _facts(view: View, call: Call, box: ModuleBox) -> list[tuple[str, str]]:
    log = view.scene.log
    scope, shapes = log.scope(call.scope), [_shapes(each, view.glyphs) for each in (box.taken, box.given)]
    site = log.site(scope.site) if scope is not None and scope.site else None
    calls = calls_of(step_rows(log, call.begin), call.scope)
    return [
        ("takes", shapes[0]),
        ("gives", shapes[1]),
        ("calls", f"{calls} in this step" if calls > 1 else ""),
        ("findings", f"{view.findings}: F lists them" if view.findings else ""),
        ("made at", f"{PurePath(site.file).name}:{site.line}" if site is not None else ""),
        ("", _line(view, scope.site) if scope is not None and site is not None else ""),
    ]


def _line(view: View, site: int) -> str:
    """The line of the program that made the module, as far as it fits."""
    text = view.scene.whole.names.source_line(site)
    room = max(view.width - 14, 8)
    return text if len(text) <= room else text[: room - 1] + view.glyphs.ellipsis


def _shapes(shapes: tuple[tuple[int, ...], ...], glyphs: Glyphs) -> str:
    return ", ".join(shape_text(shape, glyphs.times) or "scalar" for shape in shapes)


def _half(made: Text, half: Half) -> None:
    nodes = "1 node" if half.count == 1 else f"{half.count:,} nodes"
    made.append(f"{time_text(half.nanoseconds)}, {nodes}, ")
    made.append(f"#{half.row}", Style(underline=True, meta={"@click": f"app.go({half.row})"}))
    made.append("\n")


def _parameters(made: Text, view: View, box: ModuleBox) -> None:
    count = len(box.parameters)
    if not count:
        made.append("\nIt uses no parameters.", "muted")
        return
    if box.gradient is not None:
        made.append(f"{'norm':>10}  ", "muted")
        made.append(f"{number(box.gradient)}, of its gradients\n", "backward")
    made.append(f"\n{box.size:,} parameters in {count} tensor{'s' * (count > 1)}\n", "bold")
    log = view.scene.log
    shown = box.parameters[:_MOST]
    norms = norms_of(log, np.array([each.row for each in shown], np.int64)).tolist()
    names = [_name(view.scene, each, box.path) for each in shown]
    shapes = [shape_text(log.event(each.row).shape, view.glyphs.times) or "scalar" for each in shown]
    wide = max(map(len, shapes)) + 2
    room = min(max(map(len, names)), view.width - _NUMBERS - wide)
    if room < _LEAST:  # the numbers tell more than the shapes
        shapes, wide = [""] * len(shown), 0
        room = max(min(max(map(len, names)), view.width - _NUMBERS), _LEAST)
    made.append(f"{'':{room}}{'shape' if wide else '':>{wide}}{'norm':>10}{'gradient':>10}\n", "muted")
    for name, shape, parameter, norm in zip(names, shapes, shown, norms, strict=True):
        made.append(name.ljust(room) if len(name) <= room else view.glyphs.ellipsis + name[1 - room :], "leaf")
        made.append(f"{shape:>{wide}}{number(norm) if norm == norm else '':>10}")
        made.append(f"{'none' if parameter.gradient is None else number(parameter.gradient):>10}\n", "backward")
    if count > _MOST:
        made.append(f"and {count - _MOST} more\n", "muted")


def _name(scene: Scene, parameter: Parameter, path: str) -> str:
    node = scene.whole.node(parameter.row)
    return escape(node.name or f"#{parameter.row}").removeprefix(f"{path}.")
