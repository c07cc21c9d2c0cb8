"""Updates of libraries: what `apply_updates` makes of parameters is their next version, and ends a training step."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any

import jax

from graphscope.adapters.jax import marks
from graphscope.adapters.jax.internals import is_traced
from graphscope.adapters.jax.rules import is_floating
from graphscope.adapters.jax.step_calls import traced
from graphscope.adapters.kit.attachment import Attachment
from graphscope.adapters.kit.patches import Patches, Replaced
from graphscope.adapters.kit.training_steps import end_seen_step
from graphscope.adapters.kit.versions import Versions
from graphscope.eventlog import record as recording
from graphscope.eventlog.writer import Writer


class UpdatePatches(Patches):
    """What is changed in a library of optimizers.

    Args:
        name: Its name, as people write it.
        package: It has a function `apply_updates`.
        writer: The log.
    """

    def __init__(self, name: str, package: ModuleType, writer: Writer) -> None:
        super().__init__(name)
        self._package, self._writer = package, writer

    def install(self) -> None:
        """Mark what parameters become."""
        self.replace(self._package, "apply_updates", _marked(self._package.apply_updates, self._writer))

    def stays(self, replaced: Replaced) -> bool:
        """It ends steps that are left out as well."""
        return True


def attachment(name: str, package: ModuleType) -> Attachment:
    """What attaches to a library of optimizers.

    Args:
        name: Its name, as people write it.
        package: It has a function `apply_updates`.
    """

    def prepare(writer: Writer) -> Patches:
        return UpdatePatches(name, package, writer)

    probes = {"apply_updates": lambda: callable(package.apply_updates)}
    return Attachment(prepare, Versions(name, package, private=probes))


def _marked(original: Callable[..., Any], writer: Writer) -> Callable[..., Any]:
    @functools.wraps(original)
    def apply_updates(params: Any, updates: Any, *args: Any, **kwargs: Any) -> Any:
        made = original(params, updates, *args, **kwargs)
        if recording.suspended is writer:
            if is_traced():
                traced.updates = True
            else:
                end_seen_step(writer)
            return made
        before, (after, shape) = jax.tree.leaves(params), jax.tree.flatten(made)
        places = [
            place
            for place, (one, other) in enumerate(zip(before, after, strict=True))
            if one is not other and isinstance(other, jax.Array) and is_floating(other)
        ]
        passed = marks.mark(marks.UPDATED, [after[place] for place in places], [before[place] for place in places])
        for place, value in zip(places, passed, strict=True):
            after[place] = value
        return jax.tree.unflatten(shape, after)

    return apply_updates
