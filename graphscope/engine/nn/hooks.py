"""Hooks of modules: what is called before and after `forward`, and when gradients have passed a module."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

Hook = Callable[..., Any]

_numbers = itertools.count()


class RemovableHandle:
    """A registered hook; `remove()` takes it back, and so does the end of a `with` block."""

    def __init__(self, hooks: dict[int, Any], entry: Any, prepend: bool = False) -> None:
        self.id = next(_numbers)
        self._hooks = hooks
        later = dict(hooks) if prepend else {}
        if prepend:
            hooks.clear()
        hooks[self.id] = entry
        hooks.update(later)

    def remove(self) -> None:
        """Take the hook back."""
        self._hooks.pop(self.id, None)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.remove()


class Hooks:
    """The hooks of one module (or of all), by moment. An entry of `before` and `after` is a tuple."""

    def __init__(self) -> None:
        self.before: dict[int, tuple[Hook, bool]] = {}
        """Hook, and whether it wants keyword arguments."""
        self.after: dict[int, tuple[Hook, bool, bool]] = {}
        """Hook, whether it wants keyword arguments, whether it is called even if `forward` raises."""
        self.backward_before: dict[int, Hook] = {}
        self.backward: dict[int, Hook] = {}


def call(module: Any, everywhere: Hooks | None, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run a module's `forward`, its hooks and those of every module."""
    own: Hooks | None = module.__dict__.get("_module_hooks")
    mine = [hooks for hooks in (everywhere, own) if hooks is not None]
    result: Any = None
    called: set[int] = set()
    try:
        for hooks in mine:
            for hook, with_kwargs in list(hooks.before.values()):
                args, kwargs = _given(hook, module, args, kwargs, with_kwargs)
        gate = _backward_gate(module, mine)
        if gate is not None:
            args = gate.entering(args)
        result = module.forward(*args, **kwargs)
        for hooks in mine:
            for number, (hook, with_kwargs, _) in list(hooks.after.items()):
                called.add(number)
                answer = hook(module, args, kwargs, result) if with_kwargs else hook(module, args, result)
                result = result if answer is None else answer
        return result if gate is None else gate.leaving(result)
    except Exception:
        for hooks in mine:
            for number, (hook, with_kwargs, always) in list(hooks.after.items()):
                if always and number not in called:
                    _call_after_failure(hook, module, args, kwargs, result, with_kwargs)
        raise


def _given(hook: Hook, module: Any, args: Any, kwargs: Any, with_kwargs: bool) -> Any:
    """The arguments as a hook wants them to be."""
    if not with_kwargs:
        answer = hook(module, args)
        return (args if answer is None else answer if isinstance(answer, tuple) else (answer,)), kwargs
    answer = hook(module, args, kwargs)
    if answer is None:
        return args, kwargs
    if not isinstance(answer, tuple) or len(answer) != 2:
        raise RuntimeError(f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got {answer}.")
    return answer


def _call_after_failure(hook: Hook, module: Any, args: Any, kwargs: Any, result: Any, with_kwargs: bool) -> None:
    try:
        _ = hook(module, args, kwargs, result) if with_kwargs else hook(module, args, result)
    except Exception as error:  # noqa: BLE001 - the failure of forward itself is the one to be seen
        warnings.warn(
            "module forward hook with ``always_call=True`` raised an exception that was silenced as another error was "
            f"raised in forward: {error}",
            stacklevel=5,
        )


def _backward_gate(module: Any, mine: list[Hooks]) -> Any:
    if not any(hooks.backward or hooks.backward_before for hooks in mine):
        return None
    from graphscope.engine.nn.backward_hooks import BackwardGate

    return BackwardGate(
        module,
        [hook for hooks in mine for hook in hooks.backward_before.values()],
        [hook for hooks in mine for hook in hooks.backward.values()],
    )
