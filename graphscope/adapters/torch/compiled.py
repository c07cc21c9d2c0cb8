"""What the hot path of calls works on, and its handler: compiled where that could be built, else in Python."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from importlib import import_module
from inspect import isfunction
from threading import get_ident
from typing import TYPE_CHECKING, Any, Final, Self

import torch

from graphscope.adapters.kit import identity
from graphscope.adapters.torch.tensor_base import ORDINARY, Own
from graphscope.eventlog.appender import measure
from graphscope.eventlog.schema import SLOT_SHIFT


def given_to(target: type) -> Callable[[type], Any]:
    """Give a class the methods of another one, in whose place it stands from then on.

    A subclass would do, but the collector looks at what subclasses make; there is one of these for each node.
    """

    def give(described: type) -> type:
        for name, method in vars(described).items():
            if isfunction(method):
                setattr(target, name, method)
        return target

    return give


Reference = identity.Reference
"""A weak reference of the recorder's."""


class Known(identity.Known):
    """A tensor that the log has a row of."""

    __slots__ = ("counter", "group", "more", "seen")

    group: Any
    more: Any

    def __new__(cls, tensor: torch.Tensor) -> Self:
        """The entry of a tensor that shares its memory with no other."""
        known = super().__new__(cls, tensor)
        known.group = known.more = None
        return known


Table = identity.Table
"""Known tensors by their addresses."""


class Site:
    """A call site, and the result that its template is for."""

    __slots__ = (
        "awaiting", "beside", "code", "constants", "count", "direct", "dtype", "fields", "floating", "nbytes", "next",
        "ordered", "requires_grad", "shape", "slots", "summary", "template", "varying", "wanted",
    )  # fmt: skip

    code: Any
    """A weak reference to that by whose address it is known: another one may come to lie there."""
    shape: Any
    dtype: Any
    constants: Any
    count: int
    """The number of tensors that it is given."""
    slots: Any
    """Of a node with several slots, how each was kept that was met last; None where that takes a look at each."""
    beside: Any
    """The constants, where several tensors are made as well."""
    varying: int
    """A bit for each number among the constants that varies; -1 where the constants do not tell of all of them."""

    def value(self, tensor: torch.Tensor) -> Any:
        """The value of a row for a tensor that the template is for; `NotImplemented` for any other, and where it takes
        more than a look (compiled).
        """
        return NotImplemented


class Place:
    """Where one thread is."""

    __slots__ = ("backward_row", "busy", "calls", "context", "first", "last", "run", "sequence", "thread", "thread_id")


class Call:
    """A function of torch, as far as a call of it asks."""

    __slots__ = ("assigns_gradient", "gradient", "ignored", "key", "plain", "views", "writes")


class Run:
    """A run of the engine, as far as hooks ask."""

    __slots__ = (
        "append", "began", "creating", "event", "frame", "held", "marks", "opened", "place", "rules", "start", "timer",
        "writer",
    )  # fmt: skip


class Rule:
    """A backward node, as far as its hooks ask."""

    __slots__ = (
        "fields", "forward", "known", "main", "name", "others", "parts", "row", "run", "session", "since", "sources",
        "targets", "used", "watched",
    )  # fmt: skip

    row: int
    run: Any
    before: Callable[[Any], Any]
    after: Callable[[Any, Any], Any]
    sources: Any
    targets: Any
    parts: Any
    session: Any
    others: Any
    due: Callable[[], Any]

    def __call__(self, *given: Any) -> Any:
        """The hook before its node, of the cotangents, and after it, of the results and the cotangents."""
        rule = self if self.others is None else self.due()
        if rule is None:
            return None
        if rule.run is not None and rule.run.place.thread_id != get_ident():
            rule.run.place.enter()
        return rule.before(*given) if len(given) == 1 else rule.after(*given)

    def ready(self, run: Any) -> None:
        """Be part of a pass, or (None) of none any more: then nothing of it is held."""
        self.run = run
        self.row = 0
        self.sources = self.targets = self.parts = None


def walk(roots: list[Any], rules: dict[Any, Any], run: Any, session: Any, base: int, make: Any, leaves: Any) -> None:
    """Give the roots of a pass and all nodes behind them their rules, which learn who feeds them.

    The results of nodes that feed one which others feed, too, are hooked.

    Args:
        roots: The nodes that the pass begins at.
        rules: Gets the rule of each node met.
        run: The pass that all this is for.
        session: Whose rules are taken as they are; `make` looks at that, too.
        base: The first row of this log.
        make: Makes a node's rule ready: of the run, the node, and the rule that feeds it (None: it is a root).
        leaves: What the compiled one asks: the class of the nodes of leaves, the table of known tensors, the fields of
            rows that no call has, and what other nodes are called by torch's names.
    """
    waiting: list[Any] = []
    for node in roots:
        if node not in rules:
            rules[node] = make(run, node, None)
            waiting.append(node)
    shared = set(rules.values())
    while waiting:
        node = waiting.pop()
        rule = rules[node]
        slot = 0
        for target, _ in node.next_functions:
            if target is not None:
                found = rules.get(target)
                if found is None:
                    found = rules[target] = make(run, target, rule)
                    waiting.append(target)
                elif found.sources:
                    shared.add(found)
                if found.sources is None:
                    found.sources = []
                found.sources.append((rule, slot))
            slot += 1 << SLOT_SHIFT
    for target in rules.values():
        if target in shared and target.sources:  # a root may be fed by nobody else
            target.parts = []
            for source, slot in target.sources:
                if source.targets is None:
                    source.targets = []
                source.targets.append((slot >> SLOT_SHIFT, target))
    for node, rule in rules.items():
        if rule.targets and not rule.watched:
            node.register_hook(rule)
            rule.watched = True


def settle(rules: list[Any], run: Any) -> None:
    """A pass is over: its rules hold nothing of it any more."""
    for rule in rules:
        if rule.run is run:
            rule.ready(None)


_OURS: Final = "graphscope"
"""What our hook of a node is known by among those of the program, which numbers are for."""


class Hooks(dict[Any, Any]):
    """The hooks of a node, among them ours; unlike a dict's, weak references to it can be made, which handles need."""

    def __reduce__(self) -> tuple[Any, ...]:
        """The program copies or pickles a handle of its own, and with it all hooks: those of its own, as torch does."""
        return OrderedDict, ([(key, hook) for key, hook in self.items() if key != _OURS],)


def light_hooks(original: Any) -> Any:
    """How torch keeps the hooks of a node, and among them its rule, last, without a handle: rules stay.

    Where torch looks for the handle of a hook it is handed the rule; who gives the class of rules for a hook asks for
    the one that is there.
    """

    def _register_hook(hooks: Any, hook: Any) -> Any:
        if hook is not Rule and not isinstance(hook, Rule):
            return original(hooks, hook)
        if hooks is None:
            hooks = Hooks()
        rule = hooks.pop(_OURS, None)
        if hook is not Rule:
            rule = hook
        if rule is not None:
            hooks[_OURS] = rule
        return hooks, rule

    return staticmethod(_register_hook)


def rule_of(node: Any) -> Any:
    """The rule of a node; None where it has none.

    Raises:
        RuntimeError: Torch keeps hooks as it does without us: the recording has ended meanwhile.
    """
    rule = node.register_prehook(Rule)
    if rule is not None and not isinstance(rule, Rule):
        rule.remove()  # else the class would be called for a hook
        raise RuntimeError("a backward node keeps its hooks in another way")
    return None if rule is None or rule.session is None else rule


def free_in_turn(node_class: type, classes: list[type]) -> None:
    """Let backward nodes that are freed as those of a class is be freed in turn, not from within each other.

    Only compiled code can: without it, torch frees a chain of nodes that were seen from Python as deep as it is long.
    """


hooked: type = torch.autograd.function._HookMixin
"""The class that `light_hooks` is for: where torch finds how to keep hooks."""

Entry: Any = None
"""What torch calls to run its engine, for passes of the common kind; without it, `Backward.wrapped` takes them all."""

OpEntry: Any = None
CallEntry: Any = None
"""What torch calls for an op, and for the call around it; without them, methods of `Ops` and `DeepCalls`."""

scoped: Any = None
direct: Any = None
straight: Any = None
noting: Any = None
"""Make what stands in place of functions of torch: see `Modules.wrapped`, `Backward.direct`, `patches._straight`,
`Losses.noting`."""

Promises: Any = None
promise_here: Any = None
"""What is promised of tensors on a CUDA device; without it, `promises.Promises`. And whose promises compiled code
makes."""

passing: Any = None
"""Makes what is told of the end of each step: see `Optimizers.after`."""


append_slots: Any = None
"""Appends the row of a node with several slots: see `slots.append`."""

append_updates: Any = None
"""Appends the rows of what an optimizer makes of parameters: see `Optimizers._update`."""


def look_closely() -> None:
    """Tensors are about that have not the elements that lie in their memory: compiled code is to ask each."""


def look_at_storages(nbytes: Any) -> None:
    """Tensors are about that reach past the end of their storage: compiled code is to ask each.

    Args:
        nbytes: Tells the size of a storage.
    """


look_through: Any = None
"""Says how compiled code is to look at tensors: by DLPack's table, if torch offers it, and by which statistics."""

Handler: Any = None
"""What torch calls in the place of its functions; without it, `Calls.__torch_function__` does."""

if not TYPE_CHECKING:
    try:
        _built = import_module("graphscope.adapters.torch._calls")
    except ImportError:  # not built here: no compiler, or none is needed
        pass
    else:
        Hooks = given_to(_built.Hooks)(Hooks)
        Table, Reference = _built.Table, _built.Reference
        Handler, Known, Site, Rule, Run = _built.Handler, _built.Known, _built.Site, _built.Rule, _built.Run
        Place, Call, Entry = _built.Place, _built.Call, _built.Entry
        OpEntry, CallEntry = _built.OpEntry, _built.CallEntry
        append_slots, append_updates = _built.append_slots, _built.append_updates
        scoped, direct, straight, noting = _built.scoped, _built.direct, _built.straight, _built.noting
        passing = _built.passing
        Promises, promise_here = _built.Promises, _built.promise_here
        walk, settle, light_hooks = _built.walk, _built.settle, _built.light_hooks
        free_in_turn = _built.free_in_turn
        hooked = type(torch.autograd.Function)  # where it looks first
        _built.adopt(torch._C.DisableTorchFunction, torch._C._has_torch_function_unary)
        look_through, look_closely = _built.look_through, _built.look_closely
        look_at_storages = _built.look_at_storages
        look_through(getattr(torch.Tensor, "__dlpack_c_exchange_api__", None), measure, ORDINARY, Own)
