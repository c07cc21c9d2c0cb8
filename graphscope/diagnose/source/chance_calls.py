"""What differs from one run of a program to the next by itself: which calls and displays, why, and the cure."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final, NamedTuple


class Chance(NamedTuple):
    """An expression that gives something else in every run."""

    file: str
    line: int
    cause: str

    @property
    def cure(self) -> str:
        """What to do about it."""
        return CURES[self.cause]


CURES: Final = {
    "order of a set": "sort it: sorted(...), for the order of a set of strings is another in every process",
    "order of files": "sort the names: sorted(...), for a folder lists them in any order",
    "unseeded random numbers": "seed them ahead of the first use: random.seed(0), numpy.random.seed(0), default_rng(0)",
    "time or identity": "take what is the same in every run: a setting, a counter, hashlib in place of hash()",
    "order of threads": "take the results in the order of the calls: map() in place of what comes first",
}
"""By cause."""

_ORDERING: Final = frozenset({"sorted", "len", "min", "max", "any", "all", "Counter", "isinstance"})
"""What these make does not depend on the order of what they are given."""

_FILES: Final = frozenset({"listdir", "scandir", "iterdir", "glob", "iglob", "rglob"})
_THREADS: Final = frozenset({"as_completed", "imap_unordered"})
_TIMES: Final = frozenset(
    {"time.time", "time.time_ns", "time.perf_counter", "time.perf_counter_ns", "time.monotonic", "time.process_time",
     "datetime.now", "datetime.datetime.now", "datetime.utcnow", "datetime.datetime.utcnow", "uuid.uuid1", "uuid.uuid4",
     "os.urandom", "os.getpid", "hash", "id"}
)  # fmt: skip
_MODULES: Final = ("random", "numpy.random")
_GENERATORS: Final = frozenset({"default_rng", "RandomState", "Random", "SeedSequence"})
"""What draws numbers of a seed of its own."""
_SEEDING: Final = frozenset({"seed", "setstate", "getstate", "set_state", "get_state", "Generator"})


def is_ordering(node: ast.AST) -> bool:
    """Whether what a node makes does not depend on the order of what it is given."""
    is_call = isinstance(node, ast.Call) and _last(node.func) in _ORDERING
    is_test = isinstance(node, ast.Compare) and all(isinstance(each, (ast.In, ast.NotIn)) for each in node.ops)
    return is_call or is_test


def imports_of(tree: ast.Module) -> dict[str, str]:
    """What the imported names of a file stand for."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update({each.asname: each.name for each in node.names if each.asname})
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.update({each.asname or each.name: f"{node.module}.{each.name}" for each in node.names})
    return found


def chances_in(
    part: ast.expr, file: str, imports: dict[str, str], seeded: frozenset[str], is_ordered: bool
) -> Iterator[Chance]:
    """What in an expression differs from run to run.

    Args:
        part: The expression.
        file: Where it stands.
        imports: See `imports_of`.
        seeded: The modules of random numbers that the program seeds.
        is_ordered: Whether its order is of no account.
    """
    waiting: list[tuple[ast.AST, bool]] = [(part, is_ordered)]
    while waiting:
        node, ordered = waiting.pop()
        cause = _cause(node, imports, seeded)
        if cause and not (ordered and cause.startswith("order")):
            yield Chance(file, getattr(node, "lineno", 0), cause)
        ordered = ordered or is_ordering(node)
        waiting += [(each, ordered) for each in ast.iter_child_nodes(node)]


def _cause(node: ast.AST, imports: dict[str, str], seeded: frozenset[str]) -> str:
    if isinstance(node, ast.SetComp) or (isinstance(node, ast.Set) and not all(map(_is_number, node.elts))):
        return "order of a set"
    if isinstance(node, ast.Attribute | ast.Name):
        return _cause_of_reference(node, imports, seeded)
    if not isinstance(node, ast.Call):
        return ""
    name, last = _dotted(node.func, imports), _last(node.func)
    if name in ("set", "frozenset"):
        return "order of a set" if node.args else ""
    if last in _FILES or name == "os.walk":
        return "order of files"
    if last in _THREADS:
        return "order of threads"
    if name in _TIMES or name.startswith("secrets."):
        return "time or identity"
    if last in _GENERATORS:
        return "" if node.args or node.keywords else "unseeded random numbers"
    module = name.rpartition(".")[0]
    if module in _MODULES and last not in _SEEDING and module not in seeded:
        return "unseeded random numbers"
    return ""


def _cause_of_reference(node: ast.expr, imports: dict[str, str], seeded: frozenset[str]) -> str:
    """Why the results of a function differ that is kept, or handed on, and not called: `self.noise = random.gauss`."""
    if not isinstance(getattr(node, "ctx", None), ast.Load):
        return ""
    name, last = _dotted(node, imports), _last(node)
    if "." in name and name in _TIMES:
        return "time or identity"
    module = name.rpartition(".")[0]
    is_drawing = module in _MODULES and name not in _MODULES and last.islower() and last not in _NO_DRAWS
    return "unseeded random numbers" if is_drawing and module not in seeded else ""


_NO_DRAWS: Final = _SEEDING | _GENERATORS
"""Functions and classes of these modules that draw nothing themselves."""


def _is_number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, (int, float))


def _last(node: ast.expr) -> str:
    return getattr(node, "attr", "") or getattr(node, "id", "")


def _dotted(node: ast.expr, imports: dict[str, str]) -> str:
    """`numpy.random.rand` of `np.random.rand`."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    return ".".join([imports.get(node.id, node.id), *reversed(names)])
