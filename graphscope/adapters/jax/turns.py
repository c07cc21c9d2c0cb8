"""Loops and conditions that run: turn by turn, and only the branch that is taken."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from graphscope.adapters.jax import scopes
from graphscope.adapters.jax.internals import core
from graphscope.adapters.jax.rows import Rows, is_constant


class Turns:
    """Runs what loops and conditions hold.

    Args:
        rows: The rows of the recording.
        aside: What runs inside is not told.
    """

    def __init__(self, rows: Rows, aside: Callable[[], Any]) -> None:
        self._rows = rows
        self._aside = aside

    def scan(self, args: Sequence[Any], params: dict[str, Any]) -> list[Any]:
        """A loop over the first axis of what it is given."""
        closed, length = params["jaxpr"], params["length"]
        count, carried = params["num_consts"], params["num_carry"]
        consts, carry, xs = args[:count], list(args[count : count + carried]), args[count + carried :]
        turns = range(length)
        made: list[list[Any]] = []
        for turn in reversed(turns) if params["reverse"] else turns:
            slices = [self._slice(each, turn) for each in xs]
            values = self._turn("scan", closed, [*consts, *carry, *slices])
            carry = values[:carried]
            made.append(values[carried:])
        if params["reverse"]:
            made.reverse()
        if not made:
            return [*carry, *(self._empty(each) for each in closed.out_avals[carried:])]
        return [*carry, *(self._stack(parts) for parts in zip(*made, strict=True))]

    def loop(self, args: Sequence[Any], params: dict[str, Any]) -> list[Any]:
        """A loop that runs as long as its condition holds."""
        first, second = params["cond_nconsts"], params["body_nconsts"]
        of_condition, of_body = args[:first], args[first : first + second]
        carry = list(args[first + second :])
        condition, body = params["cond_jaxpr"], params["body_jaxpr"]
        while True:
            (holds,) = self._turn("while", condition, [*of_condition, *carry])
            if not np.asarray(holds).item():
                return carry
            carry = self._turn("while", body, [*of_body, *carry])

    def condition(self, args: Sequence[Any], params: dict[str, Any]) -> list[Any]:
        """The branch that a number chooses."""
        branches = params["branches"]
        chosen = min(max(int(np.asarray(args[0]).item()), 0), len(branches) - 1)
        return self._turn("cond", branches[chosen], args[1:])

    # Inside ----------------------------------------------------------------------------------------------------------

    def _turn(self, construct: str, closed: Any, args: Sequence[Any]) -> list[Any]:
        """Run a body once: its scope is entered anew."""
        self._rows.leave()
        with scopes.part_of(construct, closed):
            return list(core.eval_jaxpr(closed.jaxpr, closed.consts, *args))

    def _slice(self, whole: Any, turn: int) -> Any:
        parts = self._rows.parts_of(whole)
        if parts is not None:
            return parts[turn]
        with self._aside():
            part = jnp.asarray(whole)[turn]
        return self._rows.sliced(whole, turn, part)

    def _stack(self, parts: Sequence[Any]) -> Any:
        with self._aside():
            whole = jnp.stack([jnp.asarray(each) for each in parts])
            if any(map(is_constant, parts)):
                return whole
        self._rows.stacked(whole, parts)
        return whole

    def _empty(self, aval: Any) -> Any:
        with self._aside():
            return jax.numpy.zeros(aval.shape, aval.dtype)
