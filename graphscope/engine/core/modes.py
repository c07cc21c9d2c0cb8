"""Gradient mode: whether ops remember how to go backward. Per thread, as in PyTorch."""

from __future__ import annotations

import functools
import inspect
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, TypeVar, cast

_Function = TypeVar("_Function", bound=Callable[..., Any])


class Context:
    """Where this thread is, as the log needs to know it: one object, so that call sites compare it by identity."""

    __slots__ = ("_twin", "backward_row", "grad_enabled", "inner", "name", "scope")

    def __init__(self, scope: Any = None, backward_row: int = 0, grad_enabled: bool = True, name: str = "") -> None:
        self.scope = scope
        """The innermost module or composite op (see `scopes`), or None."""
        self.backward_row = backward_row
        """The GRAD row whose rule runs on tensors now, or 0."""
        self.inner: dict[Any, Context] = {}
        """The contexts of the scopes entered from here."""
        self.grad_enabled = grad_enabled
        """Whether ops here remember how to go backward; where they do not, the log says so."""
        self.name = name
        """What a graph that runs calls the node that runs now; empty elsewhere."""
        self._twin: Context | None = None

    def with_grad(self, enabled: bool) -> Context:
        """The same place with gradients on or off."""
        if self.grad_enabled == enabled:
            return self
        if self._twin is None:
            self._twin = Context(self.scope, self.backward_row, enabled, self.name)
            self._twin._twin = self
        return self._twin


modes = threading.local()
"""`grad_enabled`, `context` and `since` of each thread, once `here` was called in it. (A plain `local`: reading an
attribute of a subclass costs five times as much.)"""


def here() -> Any:
    """The modes of this thread."""
    if not hasattr(modes, "context"):
        modes.grad_enabled = True
        modes.context = Context()
        modes.since = sys.maxsize  # while a graph runs, the row that its run began with
    return modes


anomaly = False
"""Whether backward passes look for NaN in what each rule gives: see `anomaly.detect_anomaly`."""

disabled = 0
"""How many threads have gradients off: while there is none, an op need not ask for its own thread's mode."""

_counting = threading.Lock()


def is_grad_enabled() -> bool:
    """Whether ops of this thread record how to go backward."""
    return bool(here().grad_enabled)


def _set(enabled: bool) -> None:
    global disabled
    mode = here()
    enabled = bool(enabled)  # what is compiled asks for True itself
    if mode.grad_enabled != enabled:
        with _counting:
            disabled += -1 if enabled else 1
        mode.grad_enabled = enabled
        mode.context = mode.context.with_grad(enabled)


@contextmanager
def grad_mode(enabled: bool) -> Iterator[None]:
    """Gradients on or off inside, whatever they were."""
    before = here().grad_enabled
    _set(enabled)
    try:
        yield
    finally:
        _set(before)


class set_grad_enabled:  # noqa: N801 - PyTorch's spelling
    """Turn gradients on or off: at once, as a context manager, or as a decorator."""

    def __init__(self, mode: bool) -> None:
        self.mode = bool(mode)
        self._before: list[bool] = [here().grad_enabled]
        _set(self.mode)

    def __enter__(self) -> None:
        _set(self.mode)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _set(self._before[0])

    def __call__(self, function: _Function) -> _Function:
        _set(self._before[0])
        return _wrapped(function, self.mode)


class _Mode:
    """A grad mode as context manager (also nested, also reused) and as decorator, with or without parentheses."""

    enabled: bool

    def __new__(cls, function: Callable[..., Any] | None = None) -> Any:
        if function is not None:
            return _wrapped(function, cls.enabled)
        mode = super().__new__(cls)
        mode._before = []
        return mode

    _before: list[bool]

    def __enter__(self) -> None:
        self._before.append(here().grad_enabled)
        _set(self.enabled)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _set(self._before.pop())

    def __call__(self, function: _Function) -> _Function:
        return _wrapped(function, self.enabled)


class no_grad(_Mode):  # noqa: N801 - PyTorch's spelling
    """Ops inside do not record how to go backward: `with no_grad(): ...` or `@no_grad()`."""

    enabled = False


class enable_grad(_Mode):  # noqa: N801 - PyTorch's spelling
    """Ops inside record how to go backward again, within a `no_grad`."""

    enabled = True


class inference_mode(_Mode):  # noqa: N801 - PyTorch's spelling
    """As `no_grad`; what is made inside may be used with gradients afterwards, which PyTorch forbids."""

    def __new__(cls, mode: Any = True) -> Any:
        if callable(mode):
            return _wrapped(mode, False)
        made = super().__new__(cls)
        made.enabled = not mode
        made._within = []
        return made

    _within: list[bool]

    def __enter__(self) -> None:
        super().__enter__()
        self._within.append(is_inference_mode_enabled())
        here().inference = not self.enabled

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        here().inference = self._within.pop()
        super().__exit__(kind, error, trace)


def is_inference_mode_enabled() -> bool:
    """Whether this thread is inside `inference_mode`."""
    return bool(getattr(here(), "inference", False))


def _wrapped(function: _Function, enabled: bool) -> _Function:
    if inspect.isgeneratorfunction(function):
        return cast(_Function, _wrapped_generator(function, enabled))

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        before = here().grad_enabled
        _set(enabled)
        try:
            return function(*args, **kwargs)
        finally:
            _set(before)

    return call  # type: ignore[return-value]


def _wrapped_generator(function: Any, enabled: bool) -> Any:
    """The mode holds while the generator runs, not while its consumer does."""

    @functools.wraps(function)
    def steps(*args: Any, **kwargs: Any) -> Any:
        generator = function(*args, **kwargs)
        resume: Callable[[], Any] = functools.partial(next, generator)
        while True:
            before = here().grad_enabled
            _set(enabled)
            try:
                value = resume()
            except StopIteration as stop:
                return stop.value
            finally:
                _set(before)
            try:
                sent = yield value
                resume = functools.partial(generator.send, sent)
            except GeneratorExit:
                generator.close()
                raise
            except BaseException as error:  # noqa: BLE001 - thrown in by the consumer, and handed on
                resume = functools.partial(generator.throw, error)

    return steps
