"""The line at the top: what is looked at, where one stands, and why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from rich.style import Style
from rich.text import Text

from graphscope.debugger.result_lines import reason
from graphscope.tui.scene import title
from graphscope.tui.screen_text import escape, shape_text

if TYPE_CHECKING:
    from graphscope.tui.glyphs import Glyphs
    from graphscope.tui.scene import Scene

STATES: Final = {
    "starting": (" the program starts ", "bold reverse"),
    "runs": (" running: ctrl+c stops it ", "bold reverse"),
    "waits": (" LIVE ", "bold reverse"),
    "failed": (" failed ", "bold reverse error"),
    "ended": (" ended ", "reverse"),
}
"""What is said of a program, and how."""

_PAST: Final = "bold reverse warning"


def heading(
    scene: Scene,
    glyphs: Glyphs,
    colours: Mapping[str, str],
    *,
    name: str,
    rank: str,
    state: str,
    edge: int | None,
    step: str,
    findings: int,
    width: int,
) -> Text:
    """The line.

    Args:
        scene: Where one stands.
        glyphs: Characters.
        colours: Variables of the theme.
        name: The log or the program.
        rank: Which of several logs of a run is looked at; empty where there is one.
        state: Of a program, see `Session.state`; empty of a recording.
        edge: The row that the program waits at; None where none waits.
        step: What the training step is called that the position belongs to; empty where it is in none.
        findings: How many things are wrong with the run, as far as is known.
        width: Cells.
    """
    parts = {"name": Text(f"{escape(name)} ", "bold")}
    if rank:
        of_ranks = Style.parse("bold reverse") + Style(meta={"@click": "screen.list('ranks')"})
        parts["rank"] = Text(f" {rank}  R ", of_ranks)
    said, style = STATES.get(state, ("", ""))
    if edge is not None and scene.now != edge:
        said, style = f" PAST #{scene.now} of #{edge} ", _PAST
    if said:
        parts["state"] = Text(said, style.replace("error", colours["error"]).replace("warning", colours["warning"]))
    node, stop = scene.node, scene.stop
    why = "" if stop is None else reason(stop)
    if why and state == "failed":  # the verdict: where there is no room for both, it is read, and not where it came
        parts["reason"] = Text(f" {escape(why)}  ", f"italic {colours['error']}")
    if node is None:
        parts["node"] = Text(_ahead(scene, state))
    else:
        parts["step"] = Text(f" {step} " if step else "")
        backward = node.graph_pass == "backward"
        parts["pass"] = Text(
            f" {glyphs.up if backward else glyphs.arrow} {node.graph_pass} ",
            f"bold {colours['backward' if backward else 'forward']}",
        )
        parts["node"] = Text(f" #{node.row} {escape(title(node))}", "bold")
        parts["scope"] = Text(f" in {escape(node.scope_title)}" if node.scope_title else "")
        parts["shape"] = Text(f"  {shape_text(node.shape, glyphs.times) or 'scalar'}", "dim")
    if trouble := scene.log.lost or scene.log.stopped:
        parts["log"] = Text(f"  {escape(trouble)}", f"italic {colours['error']}")
    elif not state and not scene.log.closed:
        parts["log"] = Text("  growing", "italic dim")
    if findings:
        listed = Style.parse(f"bold {colours['error']}") + Style(meta={"@click": "screen.findings"})
        parts["findings"] = Text(f"  {findings} finding{'s' * (findings > 1)}  F ", listed)
    if why and state != "failed" and why != step:
        parts["reason"] = Text(f"   {escape(why)}", "italic")
    for part in _TOLD_ELSEWHERE:
        if sum(each.cell_len for each in parts.values()) <= width:
            break
        parts.pop(part, None)
    return Text(no_wrap=True, overflow="ellipsis").join(parts.values())


_TOLD_ELSEWHERE: Final = ("shape", "scope", "pass", "step")
"""Parts that are left out, the first of them first, where there is no room for all."""


def _ahead(scene: Scene, state: str) -> str:
    """What is said where no node is stood at."""
    if scene.stop is not None and scene.stop.before and scene.stop.node is not None:
        return f" before #{scene.stop.node.row} {escape(scene.stop.node.label)}: not computed yet"
    if state in ("ended", "failed") or (not state and scene.log.closed):
        return " no nodes"
    return "" if state == "runs" else " waiting for the first node"
