"""What is changed in a framework while it is recorded, and how all of it is put back."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from graphscope.adapters.kit.notices import left_changed

NOTHING: Final = object()
"""What stands for an attribute that was inherited."""


class Replaced(NamedTuple):
    """An attribute that was replaced."""

    owner: Any
    name: str
    before: Any
    value: Any
    """What is in its place."""


class Patches:
    """Everything that is patched; `remove` takes it back in the opposite order.

    Args:
        framework: Its name, as people write it.
    """

    def __init__(self, framework: str) -> None:
        self.framework = framework
        self.replaced: list[Replaced] = []
        """What stays at all times is not among them."""
        self._suspended: Sequence[Replaced] = ()
        """What was put back until `resume`."""
        self._undo: list[Callable[[], object]] = []

    def install(self) -> None:
        """Begin to see what the framework does: an adapter says here what it replaces."""

    def replace(self, owner: Any, name: str, value: Any, *, always: bool = False) -> None:
        """Set an attribute, had or inherited; it is put back in the end, unless somebody else has set it meanwhile.

        Args:
            owner: A module, a class or an object.
            name: The attribute.
            value: What takes its place.
            always: Whether `aside` leaves it.
        """
        before = owner.__dict__.get(name, NOTHING)
        setattr(owner, name, value)
        if not always:
            self.replaced.append(Replaced(owner, name, before, value))

        def put_back() -> None:
            if owner.__dict__.get(name) is value:
                set_or_leave(owner, name, before)

        self._undo.append(put_back)

    def at_end(self, undo: Callable[[], object]) -> None:
        """Call something when the patches are removed, after what is patched later was put back."""
        self._undo.append(undo)

    def remove(self) -> None:
        """Leave the framework as it was; what can't be put back, of which a person is told, hinders nothing else."""
        failed: BaseException | None = None
        while self._undo:
            try:
                self._undo.pop()()
            except BaseException as error:  # noqa: BLE001 - Ctrl-C, too, waits until all is done
                failed = error if failed is None or not isinstance(error, Exception) else failed
        self.replaced.clear()
        if isinstance(failed, Exception):
            left_changed(self.framework, failed)
        elif failed is not None:
            raise failed

    def suspend(self) -> None:
        """Take back what was replaced, but for what stays then, until `resume`; again, where less is to stay."""
        self._suspended = [*self._suspended, *self._taken_back(self.stays)]

    def resume(self) -> None:
        """Replace it again."""
        held, self._suspended = self._suspended, ()
        self._put_again(held)

    def stays(self, replaced: Replaced) -> bool:
        """Whether something is left in its place while nothing is seen: an adapter says so here."""
        return False

    @contextlib.contextmanager
    def aside(self) -> Iterator[None]:
        """With the framework as it is written, for what looks at its code."""
        held = self._taken_back()
        try:
            yield
        finally:
            self._put_again(held)

    def _taken_back(self, leave: Callable[[Replaced], bool] | None = None) -> Sequence[Replaced]:
        """Put back what was there, but for what is to be left; what was replaced by ours until now."""
        held = [each for each in self.replaced if each.owner.__dict__.get(each.name) is each.value]
        held = held if leave is None else [each for each in held if not leave(each)]
        for each in reversed(held):
            set_or_leave(each.owner, each.name, each.before)
        return held

    def _put_again(self, held: Sequence[Replaced]) -> None:
        for each in held:
            self.back(*each)

    def back(self, owner: Any, name: str, before: Any, value: Any) -> None:
        """Put a patch back in its place, unless somebody else has set the attribute meanwhile."""
        if owner.__dict__.get(name, NOTHING) is before:
            setattr(owner, name, value)


def set_or_leave(owner: Any, name: str, value: Any) -> None:
    """Set an attribute, or leave it to be inherited again."""
    if value is NOTHING:
        delattr(owner, name)
    else:
        setattr(owner, name, value)
