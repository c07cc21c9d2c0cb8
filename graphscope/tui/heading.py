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
    "waits": (" live ", "bold reverse"),
    "failed": (" failed ", "bold reverse error"),
    "ended": (" ended ", "reverse"),
}
"""What is said of a program, and how."""


def heading(
    scene: Scene,
    glyphs: Glyphs,
    colours: Mapping[str, str],
    *,
    name: str,
    rank: str,
    state: str,
    step: str,
    findings: int,
) -> Text:
    """The line.

    Args:
        scene: Where one stands.
        glyphs: Characters.
        colours: Variables of the theme.
        name: The log or the program.
        rank: Which of several logs of a run is looked at; empty where there is one.
        state: Of a program, see `Session.state`; empty of a recording.
        step: What the training step is called that the position belongs to; empty where it is in none.
        findings: How many things are wrong with the run, as far as is known.
    """
    made = Text(no_wrap=True, overflow="ellipsis")
    made.append(f"{escape(name)} ", "bold")
    if rank:
        made.append(f" {rank}  R ", Style.parse("bold reverse") + Style(meta={"@click": "screen.list('ranks')"}))
    said, style = STATES.get(state, ("", ""))
    if said:
        made.append(said, style.replace("error", colours["error"]))
    node, stop = scene.node, scene.stop
    if node is None:
        made.append(_ahead(scene, state))
    else:
        made.append(f" {step} " if step else "")
        backward = node.graph_pass == "backward"
        made.append(
            f" {glyphs.up if backward else glyphs.arrow} {node.graph_pass} ",
            f"bold {colours['backward' if backward else 'forward']}",
        )
        made.append(f" #{node.row} {escape(title(node))}", "bold")
        if node.scope_title:
            made.append(f" in {escape(node.scope_title)}")
        made.append(f"  {shape_text(node.shape, glyphs.times) or 'scalar'}", "dim")
    if scene.log.stopped:
        made.append(f"  {escape(scene.log.stopped)}", f"italic {colours['error']}")
    elif not state and not scene.log.closed:
        made.append("  growing", "italic dim")
    if findings:
        words = f"  {findings} finding{'s' * (findings > 1)}  F "
        made.append(words, Style.parse(f"bold {colours['error']}") + Style(meta={"@click": "screen.findings"}))
    why = "" if stop is None else reason(stop)
    if why:
        made.append(f"   {escape(why)}", f"italic {colours['error']}" if state == "failed" else "italic")
    return made


def _ahead(scene: Scene, state: str) -> str:
    """What is said where no node is stood at."""
    if scene.stop is not None and scene.stop.before and scene.stop.node is not None:
        return f" before #{scene.stop.node.row} {escape(scene.stop.node.label)}: not computed yet"
    if state in ("ended", "failed") or (not state and scene.log.closed):
        return " no nodes"
    return "" if state == "runs" else " waiting for the first node"
