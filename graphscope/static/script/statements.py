"""Scripted statements: assignments, branches, loops, and leaving them early."""

from __future__ import annotations

import ast
import operator
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import numpy as np

from graphscope.errors import StaticError
from graphscope.static.graphs.graph import Graph, spelled
from graphscope.static.graphs.graph_builder import Builder, current
from graphscope.static.graphs.symbols import Symbol
from graphscope.static.graphs.trees import leaves_of, with_leaves
from graphscope.static.script.expressions import Expressions, Names, Turns, as_symbol
from graphscope.static.script.parts import CHANGING
from graphscope.static.script.subset import told
from graphscope.static.sessions import control_flow

# What a branch or a turn may change, the node has to carry. `break`, `continue` and `return` under a condition become
# flags: what follows them runs only where the flag is not set.

RETURNED, BROKEN, SKIPPED, RESULT = "return", "break", "continue", "value returned"
"""Names of the flags, which no variable can have, and of what is returned."""
_FLAGS: Final = (RETURNED, BROKEN, SKIPPED)


class Blocks(Expressions):
    """Runs statements on symbols: each adds its nodes."""

    def run(self, statements: Sequence[ast.stmt], names: Names) -> None:
        """Run statements one after the other; `names` changes as they say."""
        for place, statement in enumerate(statements):
            stopped = self.stopped(names)
            if stopped is True:
                return
            if isinstance(stopped, Symbol):
                self._branch(statement, operator.invert(stopped), list(statements[place:]), [], names, going_on=True)
                return
            self._one(statement, names)

    def stopped(self, names: Names) -> Any:
        """Whether what follows is not to run: a boolean, or a symbol that tells."""
        flags = [names[flag] for flag in _FLAGS if names.get(flag, False) is not False]
        if any(flag is True for flag in flags):
            return True
        total = None
        for flag in flags:
            total = flag if total is None else total | flag
        return False if total is None else total

    def _one(self, statement: ast.stmt, names: Names) -> None:
        known = self._statements.get(type(statement))
        if known is None:
            raise self.source.refused(statement)
        current().site = self.source.site(statement)
        try:
            known(self, statement, names)
        except StaticError:
            raise
        except (TypeError, ValueError, RuntimeError, IndexError, AttributeError, KeyError) as error:
            raise self.source.error(statement, *told(error)) from error

    # Simple statements -----------------------------------------------------------------------------------------------

    def _assign(self, statement: Any, names: Names) -> None:
        value = self.value(statement.value, names)
        for target in statement.targets:
            self.bind(target, value, names)

    def _annotated(self, statement: Any, names: Names) -> None:
        if statement.value is not None:
            self.bind(statement.target, self.value(statement.value, names), names)

    def _augmented(self, statement: Any, names: Names) -> None:
        joined = ast.copy_location(ast.BinOp(statement.target, statement.op, statement.value), statement)
        self.bind(statement.target, self.value(joined, names), names)

    def _expression(self, statement: Any, names: Names) -> None:
        if not isinstance(statement.value, ast.Constant):
            self.value(statement.value, names)

    def _pass(self, statement: Any, names: Names) -> None:
        pass

    def _assert(self, statement: Any, names: Names) -> None:
        test = self.value(statement.test, names)
        if not isinstance(test, Symbol):
            if not test:
                raise self.source.error(statement, "this does not hold", "call it with other arguments")
            return
        here = current()
        here.site = self.source.site(statement)
        here.append("assert", [here.take(test.output, test.builder)], {"summarize": None})

    # Leaving early ---------------------------------------------------------------------------------------------------

    def _return(self, statement: Any, names: Names) -> None:
        names[RESULT] = None if statement.value is None else self.value(statement.value, names)
        names[RETURNED] = True

    def _break(self, statement: Any, names: Names) -> None:
        names[BROKEN] = True

    def _continue(self, statement: Any, names: Names) -> None:
        names[SKIPPED] = True

    # Branches --------------------------------------------------------------------------------------------------------

    def _if(self, statement: Any, names: Names) -> None:
        test = self.value(statement.test, names)
        if not isinstance(test, Symbol):
            self.run(statement.body if test else statement.orelse, names)
            return
        self._branch(statement, self.truth(test), statement.body, statement.orelse, names)

    def _branch(
        self,
        statement: ast.stmt,
        test: Symbol,
        body: Sequence[ast.stmt],
        orelse: Sequence[ast.stmt],
        names: Names,
        going_on: bool = False,
    ) -> None:
        """Both ways as bodies of a `cond`; what either may change comes out of it.

        Args:
            statement: The statement that it is for.
            test: The condition.
            body: What runs where it holds.
            orelse: What runs elsewhere.
            names: The variables.
            going_on: Whether the condition is that nothing was left early: in the body no flag is set then.
        """
        begun = Names(names)
        if going_on:
            begun.update(dict.fromkeys(_FLAGS, False))
        ways = [self._dry(body, begun), self._dry(orelse, names)]
        changed = [name for name in dict.fromkeys((*ways[0], *ways[1])) if ways[0].get(name) is not names.get(name)
                   or ways[1].get(name) is not names.get(name)]  # fmt: skip
        kept = [name for name in changed if self._in_both(name, ways)]
        fixed = {name: ways[0][name] for name in kept if self._same_number(ways[0].get(name), ways[1].get(name))}
        carried = [name for name in kept if name not in fixed]
        forms: dict[str, Any] = {}

        def way(statements: Sequence[ast.stmt], before: Names, other: Names) -> Any:
            def build() -> Any:
                inner = Names(before)
                self.run(statements, inner)
                leaves = []
                for name in carried:
                    value = inner.get(name, False if name in _FLAGS else None)
                    if value is None:
                        value = _zeros_of(other[name])
                    forms[name] = value
                    leaves += [as_symbol(leaf) for leaf in leaves_of(value)]
                return leaves or [as_symbol(False)]

            return build

        current().site = self.source.site(statement)
        try:
            found = control_flow.branch(test, way(body, begun, ways[1]), way(orelse, names, ways[0]), name="if")
        except StaticError as error:
            if "branches of" not in error.message:
                raise
            raise self.source.error(statement, error.message, error.hint or "give the same types in both") from None
        leaves = iter(leaves_of(found))
        for name in carried:
            names[name] = with_leaves(forms[name], leaves)
        names.update(fixed)
        for name in changed:
            if name not in kept:
                names.lose(name, f"is set on one way of the if in line {self.source.site(statement).line} alone")

    def _in_both(self, name: str, ways: Sequence[Names]) -> bool:
        if name == RESULT or name in _FLAGS:
            return True
        return all(name in way for way in ways)

    @staticmethod
    def _same_number(one: Any, other: Any) -> bool:
        return not isinstance(one, Symbol | tuple | list) and one.__class__ is other.__class__ and one == other

    def _dry(self, statements: Sequence[ast.stmt], names: Names) -> Names:
        """What statements would change; the nodes that they add are thrown away."""
        inner = Names(names)
        with _scratch():
            self.run(statements, inner)
        return inner

    # Loops -----------------------------------------------------------------------------------------------------------

    def _while(self, statement: Any, names: Names) -> None:
        if statement.orelse:
            raise self.source.error(statement, "the else of a loop can't be scripted", "test after the loop")
        with _scratch():
            test = self.value(statement.test, Names(names))
        turns = lambda inner: self.value(statement.test, inner)  # noqa: E731
        if not isinstance(test, Symbol) and not self._changes(statement.test, statement.body):
            if not test:
                return
            if not any(isinstance(node, ast.Break | ast.Return) for each in statement.body for node in ast.walk(each)):
                raise self.source.error(statement, "this loop never ends", "change what it tests, or break")
            turns = lambda inner: True  # noqa: E731
        self._loop(statement, names, turns, lambda inner: None)

    @staticmethod
    def _changes(test: ast.expr, body: Sequence[ast.stmt]) -> bool:
        read = {node.id for node in ast.walk(test) if isinstance(node, ast.Name)}
        return bool(read & set(_assigned(body)))

    def _for(self, statement: Any, names: Names) -> None:
        if statement.orelse:
            raise self.source.error(statement, "the else of a loop can't be scripted", "test after the loop")
        over = self.iterated(statement.iter, names)
        if isinstance(over, list):
            self._unrolled(statement, over, names)
            return
        if isinstance(over, range) and (len(over) <= 1 or self._grows(statement.body, names)):
            self._unrolled(statement, over, names)
            return
        counter = f"turn {id(statement)}"
        names[counter] = as_symbol(np.int64(0))
        if isinstance(over, range):
            step, start = over.step, over.start
            turns = Turns(len(over), lambda turn: turn if (start, step) == (0, 1) else turn * step + start)
        else:
            turns = over

        def begin(inner: Names) -> None:
            self.bind(statement.target, turns.element(inner[counter]), inner)
            inner[counter] = inner[counter] + 1

        with _scratch():
            self.bind(statement.target, turns.element(names[counter]), first := Names(names))
        for name in first:
            if name not in names:
                names[name] = with_leaves(first[name], iter([_like(leaf) for leaf in leaves_of(first[name])]))
        self._loop(statement, names, lambda inner: inner[counter] < turns.count, begin)
        del names[counter]

    def _grows(self, body: Sequence[ast.stmt], names: Names) -> bool:
        """Whether a loop appends to a list: then it is written out, turn by turn."""
        calls = [node.func for each in body for node in ast.walk(each) if isinstance(node, ast.Call)]
        return any(isinstance(call, ast.Attribute) and call.attr in CHANGING for call in calls)

    def _unrolled(self, statement: Any, over: Sequence[Any], names: Names) -> None:
        for value in over:
            if self._over(names) is True:
                break
            if isinstance(self._over(names), Symbol):
                raise self.source.error(
                    statement, "a loop that is written out is left under a condition", "loop over range or a tensor"
                )
            names[SKIPPED] = False
            self.bind(statement.target, value, names)
            self.run(statement.body, names)
        names[BROKEN] = names[SKIPPED] = False

    @staticmethod
    def _over(names: Names) -> Any:
        flags = [names.get(flag, False) for flag in (RETURNED, BROKEN)]
        return True if True in [flag for flag in flags if isinstance(flag, bool)] else next(
            (flag for flag in flags if isinstance(flag, Symbol)), False
        )  # fmt: skip

    def _loop(self, statement: Any, names: Names, test: Any, begin: Any) -> None:
        """A `while` whose variables are all that a turn may change."""
        outer = {flag: names.get(flag, False) for flag in (BROKEN, SKIPPED)}
        names[BROKEN] = names[SKIPPED] = False
        after = Names(names)
        with _scratch():
            begin(after)
            self.run(statement.body, after)
        leaving = [flag for flag in (RETURNED, BROKEN) if after.get(flag, False) is not False]
        changed = [name for name in after if name not in _FLAGS and name != RESULT and name in names
                   and after[name] is not names[name]]  # fmt: skip
        for name in after:
            if name not in names and name not in _FLAGS and name != RESULT:
                names.lose(name, f"is set in the loop of line {self.source.site(statement).line} alone")
        carried = [*changed, *leaving]
        start: dict[str, Any] = {name: names.get(name, False) for name in carried}
        if RETURNED in leaving and after.get(RESULT) is not None:
            carried.append(RESULT)
            start[RESULT] = names.get(RESULT) or _zeros_of(after[RESULT])
        starts = [[as_symbol(leaf) for leaf in leaves_of(start[name])] for name in carried]
        self._check_types(statement, carried, starts, after)

        def turned(symbols: Sequence[Any]) -> Names:
            inner = Names(names)
            leaves = iter(symbols)
            for name in carried:
                inner[name] = with_leaves(start[name], leaves)
            return inner

        def condition(*symbols: Any) -> Any:
            inner = turned(symbols)
            held = self.truth(as_symbol(test(inner)))
            for flag in leaving:
                held = held & ~inner[flag]
            return held

        def body(*symbols: Any) -> Any:
            inner = turned(symbols)
            for flag in leaving:
                inner[flag] = False
            begin(inner)
            self.run(statement.body, inner)
            found = []
            for name in carried:
                value = inner.get(name, False)
                if name == RESULT and value is None:
                    value = start[RESULT]
                found += [as_symbol(leaf) for leaf in leaves_of(value)]
            return found

        current().site = self.source.site(statement)
        flat = [leaf for leaves in starts for leaf in leaves]
        outs = control_flow.loop(condition, body, flat, "for" if isinstance(statement, ast.For) else "while")
        leaves = iter(outs if isinstance(outs, list | tuple) else [outs])
        for name in carried:
            names[name] = with_leaves(start[name], leaves)
        names.update(outer)

    def _check_types(self, statement: Any, carried: Sequence[str], starts: Sequence[Any], after: Names) -> None:
        for name, before in zip(carried, starts, strict=True):
            if name in _FLAGS or name == RESULT:
                continue
            then = [as_symbol(leaf) for leaf in leaves_of(after[name])]
            types = [[spelled(s.output.shape, s.output.dtype) for s in symbols] for symbols in (before, then)]
            if types[0] != types[1]:
                raise self.source.error(
                    statement, f"{name!r} is {', '.join(types[0])} before a turn and {', '.join(types[1])} after it",
                    "give it its type before the loop, such as 0.0 or zeros of the shape",
                )  # fmt: skip

    _statements: Final[Any] = {
        ast.Assign: _assign, ast.AnnAssign: _annotated, ast.AugAssign: _augmented, ast.Expr: _expression,
        ast.Pass: _pass, ast.Assert: _assert, ast.Return: _return, ast.Break: _break, ast.Continue: _continue,
        ast.If: _if, ast.While: _while, ast.For: _for,
    }  # fmt: skip


@contextmanager
def _scratch() -> Iterator[None]:
    """What is built inside is thrown away: one looks at what it would be."""
    with Builder(Graph("scratch"), current()).active():
        yield


def _assigned(body: Sequence[ast.stmt]) -> Iterator[str]:
    for each in body:
        for node in ast.walk(each):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id
            elif (
                isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name)
            ):
                yield node.value.id


def _like(leaf: Any) -> Symbol:
    symbol = as_symbol(leaf)
    return as_symbol(np.zeros([size or 0 for size in symbol.shape], symbol.dtype))


def _zeros_of(value: Any) -> Any:
    """Zeros in the place of something that is not there yet."""
    return with_leaves(value, [_like(leaf) for leaf in leaves_of(value)])
