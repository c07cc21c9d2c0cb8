"""What a program's tensors hold of memory: which storages were made and freed at which row, and what was saved.

Each storage is met as an op makes it or is given it, and watched by a weak reference: nothing is kept alive by it.
What a graph has saved is read from its nodes when a backward pass is about to begin, without the hooks for saved
tensors, which would change what the program does.
"""

from __future__ import annotations

import functools
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

import torch
from torch.optim import optimizer as optimizers

from graphscope.adapters.kit.notices import say
from graphscope.adapters.torch import tensor_base
from graphscope.adapters.torch.compiled import rule_of
from graphscope.adapters.torch.describing import flattened
from graphscope.adapters.torch.dispatch_mode import DispatchMode
from graphscope.adapters.torch.recorder_errors import guarded
from graphscope.adapters.torch.supported_versions import holds_in_inference, tells_saved
from graphscope.adapters.torch.tensor_base import ORDINARY
from graphscope.adapters.torch.tensor_properties import grad_fn
from graphscope.eventlog.interruptions import own
from graphscope.eventlog.schema import ROW_MASK

if TYPE_CHECKING:
    from graphscope.adapters.torch.session import Session

_BATCH: Final = 256
"""So many changes lie in an entry of the table."""

_SAVED: Final = "_raw_saved_"
"""How nodes name what they saved, as it lies there: no hook of the program's is called."""


class _Storage(weakref.ref[Any]):
    """A storage that is alive, by its number and address."""

    __slots__ = ("address", "bytes", "kind", "number")

    address: int
    bytes: int
    number: int
    kind: str


class Memory:
    """Follows the storages of a program."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._alive: dict[int, _Storage] = {}
        """By their addresses."""
        self._count = 0
        self._freed: deque[_Storage] = deque()
        """Those that are gone, until the next op. No Python runs when one goes: what a signal handler raises in the
        midst of it would be lost."""
        self._changes: list[list[Any]] = []
        self._batches = 0
        self._names: weakref.WeakKeyDictionary[type, tuple[str, ...]] = weakref.WeakKeyDictionary()
        """What nodes of a class name what they saved; a class of the program's may be gone tomorrow."""

    def mode(self) -> DispatchMode:
        """What sees the ops of a thread, to be pushed in it."""
        return _Ops(self)

    def passing(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """The entry of the engine: told are ahead of a pass what its graph has saved, behind it the gradients."""

        @functools.wraps(original)
        def entry(outputs: Any, *args: Any, **kwargs: Any) -> Any:
            leaves: list[Any] = self.saved(outputs) or []
            try:
                return original(outputs, *args, **kwargs)
            finally:
                self.arrived(leaves)

        return entry

    def register(self) -> Callable[[], None]:
        """Begin to tell what optimizers hold; the function returned ends it, and writes what is left."""
        if not tells_saved():
            version = torch.__version__
            say(f"PyTorch {version} does not tell what a graph has saved for backward; all else of memory is recorded")
        after = optimizers.register_optimizer_step_post_hook(self._stepped)

        def remove() -> None:
            after.remove()
            self.write()

        return remove

    @guarded
    def ran(self, given: Any, result: Any) -> None:
        """An op has run."""
        if self.session.ended:
            return
        self._drain()
        for tensor in _tensors(given):
            if tensor.__class__ is torch.nn.Parameter:
                self._tell(tensor, "parameter", tensor)
            else:
                self._meet(tensor, "met")
        for tensor in _tensors(result):
            self._meet(tensor, "made")
        if len(self._changes) >= _BATCH:
            self._write()

    @guarded
    def saved(self, outputs: Iterable[Any]) -> list[Any]:
        """Tell what the nodes behind the roots of a pass have saved; the leaves that it comes to."""
        base = self.session.writer.base
        leaves: list[Any] = []
        seen: set[Any] = set()
        waiting = [(node, 0) for each in outputs if (node := _node(each)) is not None]
        while waiting:
            node, row = waiting.pop()
            if node is None or node in seen:
                continue
            seen.add(node)
            variable = getattr(node, "variable", None)
            if isinstance(variable, torch.Tensor):
                leaves.append(variable)
                self._tell(variable, "parameter", variable)
                continue
            rule = rule_of(node)
            row = row if rule is None else rule.forward
            for tensor in self._saved_by(node):
                storage = self._meet(tensor, "met")
                if storage is not None and row >= base:
                    self._changes.append(["saved", self._row(), storage.number, (row & ROW_MASK) - base])
            waiting += [(below, row) for below, _ in node.next_functions]
        self._drain()
        self._write()
        return leaves

    @guarded
    def arrived(self, leaves: list[Any]) -> None:
        """A pass is over, which has come to these leaves."""
        for leaf in leaves:
            gradient = tensor_base.gradient(leaf)
            if gradient is not None:
                self._tell(gradient, "gradient", leaf)

    @guarded
    def _stepped(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                self._tell(parameter, "parameter", parameter)
        for parameter, state in optimizer.state.items():
            for tensor in _tensors(state):
                self._tell(tensor, "optimizer", parameter)

    @guarded
    def write(self) -> None:
        """Write what is not in the log yet."""
        self._drain()
        self._write()

    def _saved_by(self, node: Any) -> Iterator[torch.Tensor]:
        names = self._names.get(node.__class__)
        if names is None:
            names = tuple(name for name in dir(node.__class__) if name.startswith(_SAVED))
            self._names[node.__class__] = names
        for name in names:
            try:
                found = getattr(node, name)
            except own(RuntimeError):  # freed by an earlier pass
                continue
            for each in found if isinstance(found, tuple) else (found,):
                try:
                    data = getattr(each, "data", None)
                except own(RuntimeError):
                    continue
                if isinstance(data, torch.Tensor):  # else what a hook of the program's made of it
                    yield data

    def _meet(self, tensor: torch.Tensor, how: str) -> _Storage | None:
        """The storage of a tensor, told of when it is new; None of a tensor that has none of its own."""
        if tensor.__class__ not in ORDINARY or tensor_base.is_meta(tensor):
            return None
        try:
            storage = tensor_base.Own.untyped_storage(tensor)
            address = storage._cdata
        except own(Exception):  # sparse tensors, transforms of `torch.func`
            return None
        found, size = self._alive.get(address), storage.nbytes()
        if found is not None and found() is storage:
            if found.bytes == size:
                return found
            self._changes.append(["freed", self._row(), found.number, 0])  # resized: other memory
        self._count += 1
        new = _Storage(storage, self._freed.append)
        new.address, new.bytes, new.number, new.kind = address, size, self._count, ""
        self._alive[address] = new
        self._changes.append([how, self._row(), new.number, size])
        return new

    def _tell(self, tensor: torch.Tensor, kind: str, leaf: Any) -> None:
        """Tell of what kind a tensor is, and of which leaf, once that has a row."""
        storage = self._meet(tensor, "met")
        if storage is None or storage.kind == kind:
            return
        known = self.session.identities.find(leaf) if isinstance(leaf, torch.Tensor) else None
        base = self.session.writer.base
        if known is not None and known.row >= base:
            storage.kind = kind
            self._changes.append(["is", self._row(), storage.number, kind, known.extended().first - base])

    def _drain(self) -> None:
        while self._freed:
            storage = self._freed.popleft()
            if self._alive.get(storage.address) is storage:
                del self._alive[storage.address]
            self._changes.append(["freed", self._row(), storage.number, 0])

    def _write(self) -> None:
        changes, self._changes = self._changes, []
        if changes:
            self._batches += 1
            self.session.writer.intern("memory", self._batches, changes)

    def _row(self) -> int:
        """The row that is written next."""
        writer = self.session.writer
        return writer.end - writer.base


class _Ops(DispatchMode):  # type: ignore[no-untyped-call]
    """Sees what the ops of a thread are given and make."""

    def __init__(self, memory: Memory) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._memory = memory
        self._anywhere = holds_in_inference()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if not isinstance(func, torch._ops.OpOverload):  # it takes functions, and calls them
            return func(*args, **kwargs)
        with torch._C.DisableTorchFunction():
            result = func(*args, **kwargs)
        if self._anywhere or not torch.is_inference_mode_enabled():
            self._memory.ran((args, kwargs), result)
        return result


def _node(output: Any) -> Any:
    return grad_fn(output) if isinstance(output, torch.Tensor) else getattr(output, "node", None)


def _tensors(value: Any) -> Iterator[torch.Tensor]:
    return (each for each in flattened(value) if isinstance(each, torch.Tensor))
