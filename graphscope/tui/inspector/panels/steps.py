"""The same node in other steps: what its line and op made each time, as a curve and as a table."""

from __future__ import annotations

import numpy as np
from rich.style import Style
from rich.text import Text

from graphscope.debugger.value_results import brief_of
from graphscope.diagnose.text_lines import counted
from graphscope.graph.step_numbers import step_numbers
from graphscope.tui.inspector.alike import alike
from graphscope.tui.inspector.histogram import spark
from graphscope.tui.inspector.panel_table import View, panel
from graphscope.tui.screen_text import escape, number
from graphscope.tui.tape.magnitude import magnitude

_POINTS = 240


@panel("5", search=alike)
def steps(view: View) -> Text:
    """What the same line made in other steps, as a curve and in words."""
    scene, rows = view.scene, view.found
    made = Text()
    if len(rows) == 0:
        return Text("This node is like no other.", "muted")
    chosen = rows[np.linspace(0, len(rows) - 1, min(len(rows), _POINTS)).astype(int)]
    sizes = [magnitude(scene.whole.node(int(row))) for row in chosen]
    values = [float("nan") if size is None else size for size in sizes]
    finite = [value for value in values if value == value]  # not a NaN
    numbers = step_numbers(scene.log)
    times, turns = counted(len(rows), "time"), counted(max(len(numbers), 1), "step")
    made.append(f"{times} in {turns}; root mean square of what it made\n\n")
    if finite:
        made.append(spark(values, max(view.width - 2, 8), view.glyphs.bars) + "\n", "forward")
        made.append(f"{number(min(finite))} to {number(max(finite))}\n\n", "muted")
    here = int(np.searchsorted(rows, scene.now))
    for row in rows[max(here - 6, 0) : here + 7].tolist():
        node = scene.whole.node(row)
        sign = "> " if row == scene.now else "  "
        text = f"{sign}{numbers.title(row):<10} #{row:<8} {escape(brief_of(node))}"
        style = Style(bold=row == scene.now, meta={"@click": f"app.go({row})"})
        made.append(text + "\n", style)
    return made
