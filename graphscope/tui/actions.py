"""What keys mean on the main screen: each action of the table of keys, by name."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

from textual import events, work
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input

from graphscope.errors import GraphscopeError
from graphscope.graph.paths import REACH
from graphscope.tui import key_table
from graphscope.tui.dialogs.choice import Choice
from graphscope.tui.findings.findings_panel import FindingsPanel
from graphscope.tui.guard import Guarded
from graphscope.tui.inspector.array import ArrayView
from graphscope.tui.inspector.inspector import Inspector
from graphscope.tui.inspector.slice_entry import ask_slice
from graphscope.tui.key_file import remapped
from graphscope.tui.map.map import Map
from graphscope.tui.map.path_targets import leaves
from graphscope.tui.messages import CommandRequested
from graphscope.tui.prompt.prompt import Line, Prompt
from graphscope.tui.screen_text import escape
from graphscope.tui.source.source import Source
from graphscope.tui.tape.tape import Tape
from graphscope.tui.timeline.timeline import Timeline

if TYPE_CHECKING:
    from graphscope.debugger.results import Result
    from graphscope.graph import Node
    from graphscope.graph.outline import Steps
    from graphscope.tui.glyphs import Glyphs
    from graphscope.tui.scene import Scene
    from graphscope.tui.screen_session import Session


_ALONE: Final = ("tape", "source", "inspector")
"""The regions of which one is seen at a time where there is no room for more; the tape, unless another is asked for."""


class Actions(Guarded, Screen[None]):
    """The actions; the screen that has regions is above it."""

    session: Session
    keymap: Mapping[str, str]
    """Keys that a person has chosen, by the names of actions."""
    glyphs: Glyphs
    """The characters of pictures."""
    early: list[CommandRequested]
    """What was asked for while the program started, and waits for its first stop."""
    search = ""
    """The SPEC that `n` and `N` look for; empty when no search is under way."""

    @cached_property
    def scene(self) -> Scene:
        """What all regions show."""
        raise NotImplementedError

    @property
    def steps(self) -> Steps:
        """The training steps of the log."""
        raise NotImplementedError

    async def ask_now(self, line: str) -> list[Result]:
        """Carry out a command and wait for what it answers."""
        raise NotImplementedError

    def show_heading(self) -> None:
        """Draw the heading again."""
        raise NotImplementedError

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Whether a key means something here: while a line is typed, it is one of its letters."""
        return not (action in key_table.WORDS_FOLLOW and isinstance(self.focused, Input))

    def on_paste(self, event: events.Paste) -> None:
        """What is pasted is for the prompt, wherever one is."""
        event.stop()
        self.action_prompt()
        self.query_one(Line).paste(event.text.removeprefix(":"))

    def action_ask(self, line: str) -> None:
        """Carry out a command that a key means."""
        if self.search and line == "next":
            line = f"find {self.search}"
        if line == "other" and (row := self.query_one(Map).other_half) is not None:
            line = f"goto {row}"
        self.post_message(CommandRequested(line, quiet=True))

    def action_search(self) -> None:
        """Begin a search."""
        raise NotImplementedError

    def action_search_back(self) -> None:
        """Go to the match before this one."""
        if self.search:
            self.post_message(CommandRequested(f"rfind {self.search}", quiet=True))
        else:
            self.action_search()

    def action_end_search(self) -> None:
        """Let `n` mean the next node again."""
        self.search = ""
        self.show_heading()
        self.set_focus(self.query_one(Tape))

    def action_interrupt(self) -> None:
        """Interrupt a command that takes long, and forget what waits for the program."""
        self.early.clear()
        self.session.interrupt()

    def action_list(self, name: str) -> None:
        """Open a list."""
        from graphscope.tui.dialogs.table_list import LISTS, TableDialog  # these are loaded when they are asked for

        def close(found: tuple[str, bool] | None) -> None:
            if found is not None and found[1]:
                self.action_prefill(found[0])
            elif found is not None:
                self.post_message(CommandRequested(found[0], quiet=True))

        self.app.push_screen(TableDialog(LISTS[name], self.ask_now), close)

    def action_help(self) -> None:
        """Tell of the region where one is, and of all keys and commands."""
        from graphscope.tui.dialogs.help import Help
        from graphscope.tui.region_table import REGIONS

        around = [] if self.focused is None else [each.id for each in self.focused.ancestors_with_self]
        about = next((region for region in REGIONS if region.widget in around), None)
        bindings = remapped([*key_table.OF_COMMANDS, *key_table.OF_SCREEN], self.keymap)
        self.app.push_screen(Help(bindings, self.glyphs, about))

    def action_slice(self) -> None:
        """Ask for a slice of what is shown."""
        ask_slice(self, self.query_one(Inspector).slice)

    def action_copy(self) -> None:
        """Ask what to copy, and give that to the terminal's clipboard."""
        from graphscope.tui.copying import offers

        panel = self.query_one(FindingsPanel)
        finding = panel.chosen if panel.display else None
        answer = self.query_one(Prompt).answer
        found = {each.key: each for each in offers(self.scene, finding, self.query_one(ArrayView).number, answer)}

        def copy(key: str | None) -> None:
            if key is not None:
                self.app.copy_to_clipboard(found[key].text)
                self.notify(f"Copied the {found[key].words}", timeout=3)

        if found:
            self.app.push_screen(Choice("copy", {key: each.words for key, each in found.items()}), copy)

    def action_other_run(self) -> None:
        """Look at this run beside the one that it was compared with, or that was before it."""
        other = self.session.other
        if other is None:
            self.notify("There is no other run yet: `again` makes one, `diff OTHER` names one", timeout=4)
        else:
            self._compare_runs(self.scene.log.path, other)

    @work(thread=True, exclusive=True, group="other-run")
    def _compare_runs(self, log: Path, other: Path) -> None:
        from graphscope.compare import diff
        from graphscope.tui.comparison.comparison_screen import ComparisonScreen

        try:
            found = diff(log, other)
        except GraphscopeError as error:
            self.app.call_from_thread(self.notify, error.message, severity="error")
            return
        self.app.call_from_thread(self.app.push_screen, ComparisonScreen(found, self.glyphs))

    def action_picture(self) -> None:
        """Save the screen as a picture."""
        name = f"{Path(self.session.name).stem}-{self.scene.now}.svg"
        try:
            self.notify(f"Written to {self.app.save_screenshot(name, path='.')}")
        except OSError as error:
            self.notify(f"{name} can't be written: {error.strerror}", severity="error")

    def action_prefill(self, line: str) -> None:
        """Begin a line at the prompt."""
        self.query_one(Prompt).prefill(line)

    def action_prefill_break(self) -> None:
        """Begin a breakpoint at what one looks at: the line in the source, else the op in its pass."""
        node = self.scene.node
        if self.focused is self.query_one(Source):
            self.query_one(Source).action_breakpoint()
        elif node is None:
            self.action_prefill("break ")
        else:
            spec = f"name:{node.name}" if node.kind in ("leaf", "accumulate") and node.name else f"op:{node.op}"
            self.action_prefill(f"break {spec} {node.graph_pass}")

    def action_prompt(self) -> None:
        """Go to the prompt."""
        self.query_one(Prompt).show_program(False)
        self.set_focus(self.query_one("#line", Input))

    def action_panel(self, name: str) -> None:
        """Open a panel of the inspector; where it has taken the place of the tape, the same key gives that back."""
        inspector = self.query_one(Inspector)
        is_there = inspector.display and inspector.panel.name == name
        self.show_alone("tape" if is_there and not self.query_one(Tape).display else "inspector")
        inspector.open(name)

    def show_alone(self, name: str) -> None:
        """Let a region be the one that is seen where there is no room for all."""
        for each in _ALONE:
            self.set_class(each == name, f"-{each}")
        if (focused := self.focused) is not None and not focused.is_on_screen:
            self.call_after_refresh(self._enter, name)

    def _enter(self, name: str) -> None:
        region = self.query_one(f"#{name}")
        inside = (each for each in region.walk_children(with_self=True) if isinstance(each, Widget) and each.focusable)
        self.set_focus(next(inside, None))

    def action_region(self, by: int) -> None:
        """Go to the next region, or to the one before; where one is seen at a time, let that be seen."""
        if not (self.has_class("-slim") and self.has_class("-short")):
            (self.focus_next if by > 0 else self.focus_previous)()
            return
        now = next((place for place, name in enumerate(_ALONE) if self.has_class(f"-{name}")), 0)
        name = _ALONE[(now + by) % len(_ALONE)]
        self.show_alone(name)
        self.call_after_refresh(self._enter, name)

    def action_compare(self, by: int) -> None:
        """Compare the node with the same one in another step."""
        self.query_one(Inspector).compare_with(by)

    def action_look(self) -> None:
        """Show a value in another way."""
        self.query_one(Inspector).turn()

    def action_program(self) -> None:
        """Show the program's own terminal, or the debugger's prompt again."""
        prompt = self.query_one(Prompt)
        if not self.session.has_output:
            self.notify("Of this recording's program no output was kept: graphscope debug --log keeps it", timeout=3)
        elif prompt.of_program:
            prompt.show_program(False)
            prompt.action_leave()
        else:
            prompt.show_program(True)

    def action_edit(self) -> None:
        """Begin to change the value, or the gradient, that the program waits with."""
        node = self.scene.node
        self.action_prefill(f"set {'grad' if node is not None and node.graph_pass == 'backward' else 'value'} = ")

    def action_toggle_map(self) -> None:
        """Show the map of nodes, then that of modules where the program has some, then none."""
        shown = self.query_one(Map)
        if self.has_class("-map") and not shown.of_modules and shown.modules.is_worth_it(self.scene):
            shown.turn(of_modules=True)
            self.call_after_refresh(shown.focus)
            return
        shown.turn(of_modules=False)
        self.toggle_class("-map")
        self.call_after_refresh((shown if self.has_class("-map") else self.query_one(Tape)).focus)

    def action_drawing(self) -> None:
        """Draw the map, or show it in boxes again."""
        shown = self.query_one(Map)
        if not shown.display:
            self.action_toggle_map()
        shown.switch()

    def action_path(self) -> None:
        """Let the map show the paths to a leaf that is chosen, then none, then those to the loss again."""
        shown = self.query_one(Map)
        if not shown.display:
            self.action_toggle_map()
        if shown.target == "loss" and self.scene.node is not None:
            self._choose_leaf(self.scene.whole.node(self.scene.now))
        else:
            shown.lead("loss" if shown.target == "none" else "none")

    def _choose_leaf(self, node: Node) -> None:
        from graphscope.tui.dialogs.leaf_list import LeafDialog

        shown = self.query_one(Map)
        found, bounded = leaves(node)
        backward = node.graph_pass == "backward"
        what = f"#{node.row} {escape(node.label)}"
        if not found:
            shown.lead("none")
            relation = "brings a gradient to" if backward else "depends on"
            self.notify(f"{what} {relation} no leaf{f' in {REACH:,} rows' if bounded else ''}", title="no path")
            return
        title = f"leaves that {what} {'brings a gradient to' if backward else 'depends on'}"
        note = f"Of {REACH:,} rows.  " if bounded else ""
        self.app.push_screen(LeafDialog(title, found, note, self.glyphs.times), lambda leaf: shown.lead(leaf or "none"))

    def action_timeline(self, by: int) -> None:
        """Zoom the timeline, around where one stands."""
        self.query_one(Timeline).zoom(by)

    def action_radius(self, by: int) -> None:
        """Widen or narrow the map."""
        self.query_one(Map).widen(by)
