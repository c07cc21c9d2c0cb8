"""How a program trains, as a log says it: optimizers and what they hold, modules, and the calls that decide about both.

All is read in bulk from the marks of a log, once for each length of it: `training(log)`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from graphscope.errors import LogError
from graphscope.eventlog.each_once import each_once
from graphscope.eventlog.names import place_of
from graphscope.eventlog.schema import Kind
from graphscope.graph.names import Names
from graphscope.graph.reading import once_a_length
from graphscope.graph.step_marks import optimizer_steps
from graphscope.graph.words import by_entry, numbers, told

if TYPE_CHECKING:
    from graphscope.eventlog.names import Site
    from graphscope.eventlog.reader import Log

CLIPS: Final = ("clip_grad_norm_", "clip_grad_value_")
"""Calls that clip gradients."""


@dataclass(frozen=True, slots=True)
class Group:
    """A group of parameters of an optimizer."""

    tensors: tuple[int, ...]
    """The parameters, each by the number of its tensor in the log; empty where they were not told."""
    settings: Mapping[str, Any]
    """The settings that it was made with: `lr`, `weight_decay`."""
    count: int
    """How many parameters it was made with."""


@dataclass(frozen=True, slots=True)
class Optimizer:
    """An optimizer of the program."""

    number: int
    """By which marks name it."""
    type: str
    site: int
    """The line that made it, as an entry of `sites`; 0 where it was made before the recording began."""
    groups: tuple[Group, ...]
    is_told: bool
    """Whether the log knows its parameters (from its first step on, or the end of the recording)."""

    @property
    def tensors(self) -> frozenset[int]:
        """All its parameters."""
        return frozenset(each for group in self.groups for each in group.tensors)


@dataclass(frozen=True, slots=True)
class Scheduler:
    """A scheduler of learning rates."""

    number: int
    type: str
    site: int
    optimizer: int
    """The number of its optimizer; 0 where it has none of its own."""


@dataclass(frozen=True, slots=True)
class Unregistered:
    """Parameters that hang on a module where `parameters()` does not see them."""

    module: str
    """The module that they hang on, by name; empty for the outermost."""
    attribute: str
    type: str
    """The class of what the attribute holds."""
    parameters: Mapping[str, int | None]
    """By place: the tensors, None for one that nothing used."""
    site: int
    """The line that made the module that they belong to; 0 where they belong to none."""
    is_made: bool
    """Whether the attribute is no parameter itself, but a tensor that was made of one."""


@dataclass(frozen=True, slots=True)
class Parting:
    """Two parameters of a module that were one, until the first of them was replaced."""

    names: tuple[str, str]
    tensors: tuple[int | None, int | None]
    """None for one that nothing used."""
    site: int


@dataclass(frozen=True, slots=True)
class Module:
    """A module that is in no other and was called, as it was when that had first brought a step."""

    number: int
    type: str
    modules: Mapping[str, str]
    """The class of each module in it, by name; its own name is empty."""
    parameters: Mapping[str, int | None]
    """By name: the tensors, None for one that nothing used."""
    sites: Mapping[str, int]
    """The line that made each module in it, by name; 0 where that was not seen."""
    sizes: Mapping[str, int]
    frozen: frozenset[str]
    """The names of those that don't require grad."""
    told: Mapping[str, tuple[bool, int]]
    """Of those of whom the program said, ahead of their first use, whether they require grad: that, and the site."""
    is_training: bool
    """The mode of the module itself."""
    others: frozenset[str]
    """The names of the modules in it that are in the other mode."""
    unregistered: tuple[Unregistered, ...]
    parted: tuple[Parting, ...]
    classes: Mapping[str, tuple[str, int]]
    """File and line of the `__init__` of the program's own classes of modules, by name."""


@dataclass(frozen=True, slots=True)
class Call:
    """A mark of a call."""

    row: int
    name: str
    """What was called: `step`, `zero_grad`, `scheduler.step`, `clip_grad_norm_`, `eval`."""
    owner: int
    """The number of the object that it was called on; 0 for a function."""
    site: int
    facts: Mapping[str, Any]
    """What it was told."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting of a framework that changes what numbers come out."""

    value: Any
    site: int
    """The line that set it, as an entry of `sites`; 0 where it was so from the start."""


class Training:
    """What the marks of a log say.

    Args:
        log: A log that has marks of training, or none.
    """

    def __init__(self, log: Log) -> None:
        self.log = log
        self.step_ends = optimizer_steps(log)
        """Where training steps end."""
        self.backward_begins = log.marks(Kind.BACKWARD_BEGIN)
        self.backward_ends = log.marks(Kind.BACKWARD_END)
        self._rows = log.marks(Kind.CALL)
        self._entries = log.pick("attrs", self._rows)

    @cached_property
    def _facts(self) -> dict[int, dict[str, Any]]:
        """The entries of `attrs` that marks share."""
        return {number: self.log.entry(number) for number in each_once(self._entries).tolist()}

    @cached_property
    def _described(self) -> list[dict[str, Any]]:
        """What was told of objects, also where the rows that said so are gone."""
        entries = self.log.table("attrs")
        return [each for each in entries if isinstance(each, dict) and each.get("call") in _DESCRIBING]

    # Objects ---------------------------------------------------------------------------------------------------------

    @cached_property
    def optimizers(self) -> dict[int, Optimizer]:
        """The optimizers by number."""
        held = {each["object"]: each.get("groups", []) for each in self._described if each["call"] == "parameters"}
        found = {}
        for each in self._described:
            if each["call"] == "optimizer":
                number, made = each["object"], each.get("groups", [])
                tensors = held.get(number, [])
                groups = [
                    Group(
                        tuple(tensors[place]) if place < len(tensors) else (),
                        made[place].get("settings", {}) if place < len(made) else {},
                        made[place].get("count", 0) if place < len(made) else 0,
                    )
                    for place in range(max(len(made), len(tensors)))
                ]
                site = each.get("site_number", 0)
                found[number] = Optimizer(number, each.get("type", ""), site, tuple(groups), number in held)
        return found

    @cached_property
    def schedulers(self) -> dict[int, Scheduler]:
        """The schedulers by number."""
        return {
            each["object"]: Scheduler(
                each["object"], each.get("type", ""), each.get("site_number", 0), each.get("optimizer", 0)
            )
            for each in self._described
            if each["call"] == "scheduler"
        }

    @cached_property
    def modules(self) -> dict[int, Module]:
        """The outermost modules that were called, by number."""
        parted = {each["object"]: each["parted"] for each in self._described if each["call"] == "partings"}
        described = [each for each in self._described if each["call"] == "module"]
        return {each["object"]: _module(each, parted.get(each["object"])) for each in described}

    @cached_property
    def optimized(self) -> frozenset[int]:
        """The tensors that some optimizer holds."""
        return frozenset(tensor for each in self.optimizers.values() for tensor in each.tensors)

    # Calls -----------------------------------------------------------------------------------------------------------

    def rows(self, *names: str, owner: int | None = None) -> np.ndarray:
        """The rows of the marks of some calls, ascending; of those on one object, where it is named."""
        wanted = [
            number
            for number, facts in self._facts.items()
            if facts.get("call") in names and (owner is None or facts.get("object") == owner)
        ]
        found: np.ndarray = self._rows[np.isin(self._entries, wanted)]
        return found

    def call(self, row: int) -> Call:
        """The mark of a row."""
        number = int(self._entries[np.searchsorted(self._rows, row)])
        facts = self._facts[number]
        return Call(row, str(facts.get("call", "")), int(facts.get("object", 0)), int(self.log.raw(row)["site"]), facts)

    def owners(self, rows: np.ndarray) -> np.ndarray:
        """The number of the object that each of some marks tells of; 0 where it names none."""
        entries, which = np.unique(self._entries[np.searchsorted(self._rows, rows)], return_inverse=True)
        numbers = [int(self._facts[entry].get("object", 0)) for entry in entries.tolist()]
        return np.array(numbers, np.int64)[which]

    def calls(self, *names: str, owner: int | None = None) -> list[Call]:
        """The marks of some calls, decoded."""
        return [self.call(row) for row in self.rows(*names, owner=owner).tolist()]

    def settings(self, row: int) -> dict[str, Setting]:
        """What was set ahead of a row, by name; empty where the log tells of no settings."""
        told: list[tuple[Mapping[str, Any], int]] = [
            (each, 0) for each in self._described if each["call"] == "settings"
        ]
        told += [(each.facts, each.site) for each in self.calls("setting") if each.row < row]
        found: dict[str, Setting] = {}
        for facts, site in told:
            for name in facts.keys() - _ABOUT:
                if name not in found or found[name].value != facts[name]:
                    found[name] = Setting(facts[name], site)
        return found

    def rates(self, rows: np.ndarray) -> np.ndarray:
        """The learning rates of the groups at the `step` of each row, a line each; NaN where it has no more of them."""
        return self._numbers(rows, "lr")

    def begins(self, rows: np.ndarray) -> np.ndarray:
        """Where the steps whose `step` marks are at some rows began."""
        found: np.ndarray = rows - np.nan_to_num(self._numbers(rows, "rows")[:, 0]).astype(np.int64)
        return found

    def _numbers(self, rows: np.ndarray, name: str) -> np.ndarray:
        """The numbers that marks tell by a name, a line for each mark; NaN where it has no more of them."""
        lists = []
        for entry, which in by_entry(self.log, rows):
            encoded = told(entry, "attributes").get(name)
            lists.append((which, encoded.get("tuple", []) if isinstance(encoded, dict) else []))
        found = np.full((len(rows), max((len(parts) for _, parts in lists), default=1) or 1), np.nan)
        for which, parts in lists:
            for column, part in enumerate(parts):
                found[which, column] = numbers(self.log, rows[which], part)
        return found

    def roots(self, begins: np.ndarray) -> np.ndarray:
        """The rows that backward passes begin from; -1 where it is not told."""
        counts = self.log.pick("input_count", begins)
        rows = [self.log.inputs(row)[0][0] if count else -1 for row, count in zip(begins.tolist(), counts, strict=True)]
        return np.array(rows, np.int64)

    # Places and names ------------------------------------------------------------------------------------------------

    def place(self, site: int) -> tuple[str, int]:
        """File and line of a site; empty and 0 where there is none."""
        found: Site | None = self.log.site(site) if site else None
        return place_of(found)

    def function(self, site: int) -> str:
        """The function that a site is in; empty where there is none."""
        found = self.log.site(site) if site else None
        return "" if found is None else found.function

    def name(self, tensor: int) -> str:
        """What the program calls a tensor; empty where it has no name."""
        try:
            found = self._names.name(self.log.event(tensor))
        except LogError:
            found = ""
        return found or self.names_in_modules.get(tensor, "")

    @cached_property
    def _names(self) -> Names:
        return Names(self.log)

    @cached_property
    def names_in_modules(self) -> dict[int, str]:
        """What the outermost modules call their parameters, by tensor."""
        return {
            tensor: name
            for module in self.modules.values()
            for name, tensor in module.parameters.items()
            if tensor is not None
        }


def _module(facts: dict[str, Any], parted: list[dict[str, Any]] | None) -> Module:
    return Module(
        number=facts["object"],
        type=facts.get("type", ""),
        modules=facts.get("modules", {}),
        parameters=facts.get("parameters", {}),
        sites=facts.get("sites", {}),
        sizes=facts.get("sizes", {}),
        frozen=frozenset(facts.get("frozen", ())),
        told={name: (bool(value), int(site)) for name, (value, site) in facts.get("requires_grad", {}).items()},
        is_training=bool(facts.get("training", True)),
        others=frozenset(facts.get("others", ())),
        unregistered=tuple(
            Unregistered(
                each["module"],
                each["attribute"],
                each["type"],
                each["parameters"],
                each.get("site_number", 0),
                bool(each.get("is_made", False)),
            )
            for each in facts.get("unregistered", ())
        ),
        parted=tuple(
            Parting(tuple(each["names"]), tuple(each["tensors"]), each.get("site_number", 0))
            for each in parted or facts.get("parted", ())
        ),
        classes={name: (file, line) for name, (file, line) in facts.get("classes", {}).items()},
    )


_DESCRIBING: Final = frozenset({"optimizer", "parameters", "scheduler", "module", "partings", "settings"})
"""The calls whose marks describe objects, and what was set at the start."""
_ABOUT: Final = frozenset({"call", "object", "site_number"})
"""What marks have beside what they tell."""


@once_a_length
def training(log: Log) -> Training:
    """How the program of a log trains, as far as the log goes now."""
    return Training(log)
