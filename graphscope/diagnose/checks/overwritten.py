"""In-place damage: a write over a value that the rule of an earlier node still needs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.diagnose.check_table import check
from graphscope.diagnose.explanation import title, where
from graphscope.diagnose.finding import Finding, Row
from graphscope.diagnose.gradients.ancestry import ancestry
from graphscope.diagnose.gradients.carried import taken_over
from graphscope.diagnose.gradients.failed_passes import WRITTEN, FailedPass, failed_passes
from graphscope.diagnose.gradients.paths import GradientPaths
from graphscope.eventlog.each_once import each_once
from graphscope.eventlog.names import place_of
from graphscope.eventlog.schema import Flag, Kind
from graphscope.graph.words import edges, sources

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Graph, Node

_WORD = re.compile(r"[A-Za-z_]\w*")

_RULES: Final[dict[str, tuple[str, ...]]] = {
    **dict.fromkeys(["mul", "mm", "matmul", "bmm", "linear", "outer", "dot", "mv"], ("g * y", "g * x")),
    **dict.fromkeys(["conv1d", "conv2d", "conv3d"], ("g * y", "g * x")),
    **dict.fromkeys(["exp", "tanh", "sigmoid", "softmax", "log_softmax", "sqrt", "rsqrt", "relu"], ("g * out",)),
    **dict.fromkeys(["log", "sin", "cos", "abs", "square", "pow", "gelu", "silu", "softplus"], ("g * x",)),
    "div": ("g / y", "g * x / y"),
}
"""What the rules of common ops need, for logs of producers that don't write their rules down."""


def writes(log: Log) -> Iterator[int]:
    """The rows that write over a value which an op had taken, or made, and whose rule had not run by then."""
    first, written, ran = log.first, *_written_and_ran(log)
    rows = np.flatnonzero(written >= 0)
    flags = log.pick("flags", rows + first)
    made = (
        (log.pick("kind", rows + first) == Kind.OP) & ((flags & int(Flag.NO_GRAD)) == 0) & (ran[rows] > written[rows])
    )
    found = [written[rows[made | ((flags & int(Flag.VIEW)) != 0)]]]
    for users, taken in edges(log, lambda each: (each["kind"] == Kind.OP) & ((each["flags"] & int(Flag.NO_GRAD)) == 0)):
        known = taken >= first
        users, write = users[known], written[taken[known] - first]
        found.append(write[(write > users) & (ran[users - first] > write)])
    yield from each_once(np.concatenate(found)).tolist()


def _written_and_ran(log: Log) -> tuple[np.ndarray, np.ndarray]:
    """By row, counted from the first: the row that writes over its value (-1: none), and the first row of its rule."""
    first = log.first
    dtype = np.min_scalar_type(-1 - log.end)
    written, ran = np.full(log.end - first, -1, dtype), np.full(log.end - first, np.iinfo(dtype).max, dtype)
    rules = log.where(lambda rows: rows["kind"] == Kind.GRAD)[::-1]  # the first of each comes last
    owners = log.pick("forward", rules).astype(np.int64)
    known = (owners >= first) & (owners < rules)
    ran[owners[known] - first] = rules[known]
    writers = log.where(lambda rows: (rows["kind"] == Kind.OP) & ((rows["flags"] & int(Flag.IN_PLACE)) != 0))
    taken = sources(log, writers)
    known = (taken >= first) & (taken < writers)
    written[taken[known] - first] = writers[known]
    return written, ran


def failed_by(graph: Graph) -> Iterator[Finding]:
    """The writes that made a backward pass fail; of a run without any pass, all that would.

    A graph that no pass runs through may be written over: those of targets and of networks that are not trained are.
    """
    if not len(graph.index.marks(Kind.BACKWARD_BEGIN)):
        yield from (found for row in writes(graph.log) if row <= graph.now for found in overwritten(graph, row))
    for failed in failed_passes(graph, WRITTEN):
        if taken_over(graph, failed.root, failed.before) is not None:
            continue  # an optimizer wrote over what a state of an earlier step needs: the state is to blame
        behind = ancestry(graph.log, failed.root)
        then = graph.at(failed.begin)
        before = [found for row in writes(graph.log) if row < failed.begin for found in overwritten(then, row)]
        found = [each for each in before if behind.holds(int(each.evidence["saved by"]))]
        last = _last_rule(graph, failed)
        yield from (
            [each for each in found if each.evidence["saved by"] == last][:1] or found[:1] or _named(then, failed)
        )
        return


def _named(graph: Graph, failed: FailedPass) -> list[Finding]:
    """The write that an error tells of by the shape of what it wrote, where one line alone wrote such a tensor."""
    log = graph.log
    text = str(log.attrs(graph.index.event(failed.error).attrs).get("text", ""))
    told = _WRITTEN_TENSOR.search(text)
    if told is None:
        return []
    shape, behind = tuple(int(each) for each in told[1].split(",") if each.strip()), ancestry(log, failed.root)
    kinds, flags = (log.column(name, failed.before, failed.begin) for name in ("kind", "flags"))
    rows = failed.before + np.flatnonzero((kinds == Kind.OP) & ((flags & int(Flag.IN_PLACE)) != 0))
    writes = [node for node in map(graph.node, rows[-_MOST:].tolist()) if node.inputs]
    made = _BACKWARD.search(text)
    fitting = [each for each in writes if shape in (each.shape, each.inputs[0].source.shape)]
    if made is not None and any(_is_made_by(each, made[1]) for each in fitting):
        fitting = [each for each in fitting if _is_made_by(each, made[1])]
    fitting = [each for each in fitting if any(behind.holds(old.row) for old in _same_memory(each.inputs[0].source))]
    if len({each.site for each in fitting}) != 1:
        return []
    write = fitting[-1]
    old, site = write.inputs[0].source, write.site
    verdict = f"backward fails: it needs {title(old)} as it was, and {write.op}{where(write)} writes over it"
    file, line = place_of(site)
    cure, evidence = _CURES.get(write.op) or _as_new(write), {"version": write.version, "saved by": Row(old.row)}
    names, cause = (title(old),), "written in place"
    return [Finding("overwritten", "error", write.row, write.row, file, line, names, cause, verdict, cure, evidence)]


_MOST: Final = 4096
_WRITTEN_TENSOR: Final = re.compile(r"\[[\w.]+ \[([\d, ]*)\]\]")
_BACKWARD: Final = re.compile(r"output \d+ of (\w+?)Backward\d*")


def _is_made_by(write: Node, rule: str) -> bool:
    """Whether a rule of torch's, as errors name it, is that of a write."""
    return rule.lower() == write.op.rstrip("_").replace("_", "")


def _last_rule(graph: Graph, failed: FailedPass) -> int:
    """The op whose rule a pass came to last."""
    log = graph.log
    kinds = log.column("kind", failed.begin, failed.error)
    ran = failed.begin + np.flatnonzero(kinds == Kind.GRAD)
    return int(log.pick("forward", ran[-1:])[0]) if len(ran) else -1


@check(
    "in-place damage",
    reads=("marks", "rows"),
    rows=writes,
    of_run=failed_by,
    sample="""
        import torch

        x = torch.tensor([1.0, 2.0], requires_grad=True)
        y = x.exp()
        y.mul_(2)
        """,
    healthy="""
        import torch

        x = torch.tensor([1.0, 2.0], requires_grad=True)
        y = x + 1
        y.mul_(2)
        y.sum().backward()
        """,
)
def overwritten(graph: Graph, row: int) -> Iterator[Finding]:
    """A write in place over a value that backward still needs.

    A value is damaged if a rule that has not run yet needs it as it was. Which values a rule needs is told by its text.
    """
    write = graph.node(row)
    unseen = graph.log.metadata.get("capture") == "calls"  # whether backward has run is not told
    if not write.flags & Flag.IN_PLACE or not write.inputs or unseen:
        return
    for old in _same_memory(write.inputs[0].source):
        for owner, what in _savers(old):
            if owner.row < row and not _has_run(owner):
                yield _finding(write, owner, old, what)
                return


def _finding(write: Node, owner: Node, old: Node, what: str) -> Finding:
    verdict = f"{owner.op}{where(owner)} had saved {what}, and {write.op}{where(write)} writes over it before backward"
    of_step = "lr" in write.attrs or "lr" in write.arguments.attributes
    cure = _OF_STEP if of_step else _CURES.get(write.op) or _as_new(write)
    file, line = place_of(write.site)
    evidence = {"saved by": Row(owner.row), "version": write.version}
    names, cause = (title(old),), "written in place"
    return Finding("overwritten", "error", write.row, write.row, file, line, names, cause, verdict, cure, evidence)


def _as_new(write: Node) -> str:
    """What to write in the place of a write in place."""
    op, text = write.op.rstrip("_"), write.source_line
    sign = _SIGNS.get(op)
    if sign is not None and f"{sign}=" in text:
        return f"make a new tensor: x = x {sign} y in place of x {sign}= y"
    if f"{write.op}(" in text:
        return f"make a new tensor: x = x.{op}(...) in place of x.{op}_(...)"
    return f"make a new tensor: {op} with inplace=False"


_SIGNS: Final = {"add": "+", "sub": "-", "mul": "*", "div": "/", "pow": "**", "matmul": "@"}
_OF_STEP: Final = "call step() after the backward of every loss made with these weights, or compute that loss anew"
_CURES: Final = {
    "setitem_": "write into a clone(), or put the parts together by torch.stack, cat or where",
    "copy_": "write before the forward pass, or after the backward of every loss made with the old values",
}


def _has_run(owner: Node) -> bool:
    """Whether the rule of a node has made something, as far as one sees: then it missed nothing."""
    rules = [each for each in owner.backward if each.kind == "grad"]
    return any(each.users or each.backward for each in rules) if rules else bool(owner.backward)


def _same_memory(node: Node) -> Iterator[Node]:
    """A node, and what it is a view of."""
    seen = {node.row}
    yield node
    while node.flags & Flag.VIEW and node.inputs and node.inputs[0].source.row not in seen:
        node = node.inputs[0].source
        seen.add(node.row)
        yield node


def _savers(old: Node) -> Iterator[tuple[Node, str]]:
    """The nodes whose rules need a value, and what it is to them."""
    if _needs(old, "out"):
        yield old, "its output"
    for edge in old.users:
        op = old.graph.log.op(edge.target.event.op)
        names = op.inputs if op.rules_run else ("x", "y", "z")
        name = names[edge.argument] if edge.argument < len(names) else ""
        if name and _needs(edge.target, name):
            yield edge.target, f"its input {name}"


def _is_spent(node: Node) -> bool:
    """Whether an op is part of a rule, or of a checkpoint computed anew: no later pass needs what it saves."""
    if node.graph_pass == "forward":
        return False
    number, log = node.scope_number, node.graph.log
    while number and (scope := log.scope(number)) is not None:
        if scope.type == "checkpoint":
            return True
        number = scope.parent
    return not node.flags & Flag.CREATE_GRAPH


def _needs(node: Node, name: str) -> bool:
    """Whether a rule that will run mentions a value."""
    if node.kind != "op" or _is_spent(node):
        return False
    rules = node.graph.log.op(node.event.op).rules_run or _RULES.get(node.op.rstrip("_"), ())
    places = [place for place, rule in enumerate(rules) if name in _WORD.findall(rule)]
    if not places:
        return False
    paths = GradientPaths(node.graph, node.row)
    sources = node.event.inputs
    return node.row in paths.open and any(place < len(sources) and sources[place][0] in paths.open for place in places)
