"""What a person set up, as data: so breakpoints, watches and displays reach the process of the program."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from graphscope.debugger import watches
from graphscope.debugger.breakpoints import Breakpoints, breakpoint_of
from graphscope.debugger.expressions import parse
from graphscope.debugger.results import BreakpointInfo, WatchInfo

if TYPE_CHECKING:
    from pathlib import Path

    from graphscope.debugger.debugger import Debugger
    from graphscope.debugger.motion import Granularity


@dataclass(frozen=True, slots=True)
class Setup:
    """All that was set up in a session."""

    breakpoints: tuple[BreakpointInfo, ...] = ()
    watches: tuple[WatchInfo, ...] = ()
    displays: tuple[tuple[int, str], ...] = ()
    granularity: Granularity = "node"
    just_my_code: bool = True
    stops_when_raised: bool = False

    @property
    def uncounted(self) -> Setup:
        """The same as it was set up, whatever has been hit since."""
        return replace(
            self,
            breakpoints=tuple(replace(found, hits=0, backward_hits=0) for found in self.breakpoints),
            watches=tuple(replace(found, hits=0) for found in self.watches),
        )


def setup_of(debugger: Debugger) -> Setup:
    """All that was set up in a session, with the hits so far."""
    return Setup(
        tuple(found.info for found in debugger.breakpoints),
        tuple(found.info for found in debugger.watches.values()),
        tuple((number, shown.text) for number, shown in debugger.displays.items()),
        debugger.granularity,
        debugger.just_my_code,
        debugger.stops_when_raised,
    )


def set_up(debugger: Debugger, setup: Setup) -> None:
    """Let a session have what was set up in another, and nothing else. Hits that were counted here are kept."""
    old = debugger.breakpoints
    known = {found.number: found for found in old}
    new = Breakpoints(old.say)
    new.visits = old.visits
    for saved in setup.breakpoints:
        made = breakpoint_of(saved)
        there = known.get(made.number)
        if there is not None and (str(there), there.when) == (str(made), made.when):
            made.hits, made.backward_hits = there.hits, there.backward_hits
        new.put(made)
    debugger.breakpoints = new  # at once: the program may be running, and looks at it without a lock
    debugger.watches = {saved.number: _watch(debugger, saved) for saved in setup.watches}
    debugger.granularity, debugger.just_my_code = setup.granularity, setup.just_my_code
    debugger.stops_when_raised = setup.stops_when_raised
    debugger.displays.clear()
    debugger.displays.update({number: parse(text) for number, text in setup.displays})


def keep_setup(old: Debugger, new: Debugger, earlier: Path | None) -> None:
    """Let a session have what was set up in the run before, whose log is `earlier`: another run of the same program.

    What speaks of a row speaks of the same row of this run.
    """
    new.earlier = earlier
    new.displays, new.aliases, new.checkpoints = old.displays, old.aliases, old.checkpoints
    new.granularity, new.just_my_code = old.granularity, old.just_my_code
    new.stops_when_raised = old.stops_when_raised
    for found in old.breakpoints:
        if new.log is not old.log:
            found.hits = found.backward_hits = 0
        new.breakpoints.put(found)
    if new.log is old.log:
        new.watches, new.difference = old.watches, old.difference
    else:
        new.watches = {
            number: replace(watch, tensors=set(), due=True, hits=0, seen=watches.UNDEFINED)
            for number, watch in old.watches.items()
        }


def take_counts(debugger: Debugger, saved: Setup) -> None:
    """Take over what has become of breakpoints and watches in the process that runs the program."""
    left = {found.number: found for found in saved.breakpoints}
    for found in debugger.breakpoints:
        if found.number in left:
            counted = left[found.number]
            found.hits, found.backward_hits, found.ignore = counted.hits, counted.backward_hits, counted.ignore
        elif found.temporary:  # it has stopped, and is gone
            debugger.breakpoints.remove(found.number)
    for watched in saved.watches:
        if watched.number in debugger.watches:
            debugger.watches[watched.number].hits = watched.hits


def _watch(debugger: Debugger, saved: WatchInfo) -> watches.Watch:
    known = debugger.watches.get(saved.number)
    if known is not None and replace(known.info, hits=0) == replace(saved, hits=0):
        return known
    graph = debugger.graph.at(debugger.last_row)
    test = parse(saved.condition) if saved.condition else None
    if saved.row is not None and saved.row >= debugger.log.end:  # of the run before: it is yet to come
        return watches.Watch(saved.number, parse(saved.expression), saved.row, watches.UNDEFINED, test, saved.when)
    node = None if saved.row is None else graph.node(saved.row)
    return watches.watch(saved.number, parse(saved.expression), graph, node, test, saved.when)
