"""How a person has arranged the screen, as plain data that is kept with a log: panels, folds, what is searched for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from graphscope.tui.inspector.inspector import Inspector
from graphscope.tui.inspector.numbers_view import NumbersView
from graphscope.tui.inspector.panel_table import PANELS
from graphscope.tui.map.map import Map
from graphscope.tui.prompt.prompt import Prompt
from graphscope.tui.splitting import Split
from graphscope.tui.tape.kept_folds import fold_again, folds_of
from graphscope.tui.tape.tape import Tape
from graphscope.tui.timeline.timeline import Timeline

if TYPE_CHECKING:
    from graphscope.tui.search.searching import Searching

_REGIONS: Final = ("tape", "source", "array", "map")
"""Those that can have the focus when the screen opens."""


@dataclass(frozen=True, slots=True)
class Part:
    """Something that a person has chosen."""

    kind: type
    """What it is as data."""
    of: Callable[[Searching], Any]
    take: Callable[[Searching, Any], None]


def _panel(main: Searching, name: str) -> None:
    if name in PANELS:
        main.query_one(Inspector).open(name)


def _map_of(main: Searching) -> str:
    return "" if not main.has_class("-map") else "modules" if main.query_one(Map).of_modules else "nodes"


def _map(main: Searching, shown: str) -> None:
    view = main.query_one(Map)
    main.set_class(bool(shown), "-map")
    view.turn(of_modules=shown == "modules" and view.modules.is_worth_it(main.scene))


def _shares_of(main: Searching) -> dict[str, float]:
    return {str(each.id): each.share for each in main.query(Split) if each.share is not None}


def _give_shares(main: Searching, shares: Mapping[str, Any]) -> None:
    for each in main.query(Split):
        if isinstance(share := shares.get(str(each.id)), float):
            each.give(share)


def _radius(main: Searching, radius: int) -> None:
    view = main.query_one(Map)
    view.widen(radius - view.radius)


def _focus(main: Searching, name: str) -> None:
    if name in _REGIONS and (region := main.query_one(f"#{name}")).display:
        main.set_focus(region)


def _focused(main: Searching) -> str:
    return main.focused.id or "" if main.focused is not None else ""


PARTS: Final[Mapping[str, Part]] = {
    "panel": Part(str, lambda main: main.query_one(Inspector).panel.name, _panel),
    "numbers": Part(
        str,
        lambda main: main.query_one(NumbersView).form,
        lambda main, form: main.query_one(NumbersView).show_as(form),
    ),
    "map": Part(str, _map_of, _map),
    "shares": Part(dict, _shares_of, _give_shares),
    "radius": Part(int, lambda main: main.query_one(Map).radius, _radius),
    "zoom": Part(
        list,
        lambda main: list(main.query_one(Timeline).zoomed),
        lambda main, zoomed: main.query_one(Timeline).show_part(*map(int, zoomed)),
    ),
    "folds": Part(
        dict,
        lambda main: folds_of(main.query_one(Tape)),
        lambda main, folds: fold_again(main.query_one(Tape), folds),
    ),
    "search": Part(str, lambda main: main.search, lambda main, text: main.search_again(text)),
    "program": Part(
        bool,
        lambda main: main.query_one(Prompt).of_program,
        lambda main, shown: main.query_one(Prompt).show_program(shown),
    ),
    "focus": Part(str, _focused, _focus),
}
"""All that is kept, in the order in which it is taken up again."""


def arrangement_of(main: Searching) -> dict[str, Any]:
    """How the screen is arranged now."""
    return {name: part.of(main) for name, part in PARTS.items()}


def arrange(main: Searching, kept: Mapping[str, Any]) -> None:
    """Arrange the screen as it was; what is not understood stays as it is."""
    for name, part in PARTS.items():
        value = kept.get(name)
        if isinstance(value, part.kind):
            with suppress(KeyError, TypeError, ValueError):
                part.take(main, value)
