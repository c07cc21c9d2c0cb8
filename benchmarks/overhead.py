"""What the recorder costs when no log is active: the engine against a twin whose recording branches are cut out."""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType
from typing import Any, Final

from benchmarks.engines import graphscope, load, single, torch_like
from benchmarks.measure import ROUNDS, interleave
from benchmarks.results import Measurement
from benchmarks.workloads import WORKLOADS, Workload

PACKAGE: Final = "graphscope"
CUT: Final = (f"{PACKAGE}.engine", f"{PACKAGE}.nn", f"{PACKAGE}.optim")
"""Where producers of events are."""

QUESTIONS: Final = frozenset({"writer is not None", "site is not None", "gate is not None", "row >= 0"})
"""How these packages ask whether they are being recorded; in the twin the answer is no, and the question is gone."""

SOURCES: Final = frozenset({"recording.writer", "record.writer", "recording.active()", "record.active()"})
"""How they get at the active log; in the twin it is None."""


class Cutter(ast.NodeTransformer):
    """Cuts out what runs only while a log is active; `count` tells how often it did."""

    def __init__(self) -> None:
        self.count = 0

    def asks(self, test: ast.expr) -> bool:
        parts = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]
        cut = any(ast.unparse(part) in QUESTIONS for part in parts)
        self.count += cut
        return cut

    def visit_If(self, node: ast.If) -> Any:
        if not self.asks(node.test):
            return self.generic_visit(node)
        kept = [self.visit(statement) for statement in node.orelse]
        return kept or ast.copy_location(ast.Pass(), node)

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        return self.visit(node.orelse) if self.asks(node.test) else self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> Any:
        if ast.unparse(node.value) in SOURCES:
            node.value = ast.copy_location(ast.Constant(None), node.value)
        return self.generic_visit(node)


class CuttingLoader(SourceFileLoader):
    """Compiles a module without its recording branches."""

    cuts = 0

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        cutter = Cutter()
        tree = cutter.visit(ast.parse(self.get_data(path)))
        CuttingLoader.cuts += cutter.count
        # Under its own path, so that errors and stack walks see it as part of the package.
        return compile(ast.fix_missing_locations(tree), path, "exec")


class Finder(MetaPathFinder):
    """Finds the packages of `CUT` and loads them cut."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        if not fullname.startswith(CUT):
            return None
        spec = PathFinder.find_spec(fullname, path)
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = CuttingLoader(fullname, spec.loader.path)
        return spec


@contextmanager
def apart() -> Iterator[None]:
    """Import graphscope anew, cut; afterwards the name means the original again."""

    def ours() -> dict[str, ModuleType]:
        return {name: module for name, module in sys.modules.items() if name.partition(".")[0] == PACKAGE}

    originals = ours()
    for name in originals:
        del sys.modules[name]
    finder = Finder()
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        for name in ours():
            del sys.modules[name]
        sys.modules.update(originals)


def twin() -> Any:
    """A graphscope without recording, every public name resolved (later imports would find the original)."""
    load(PACKAGE)
    with apart():
        module = importlib.import_module(PACKAGE)
        engine = importlib.import_module(f"{PACKAGE}.engine")
        for name in (*engine.__all__, "nn", "optim"):
            getattr(module, name)
        importlib.import_module(f"{PACKAGE}.nn.functional")
    if not CuttingLoader.cuts:
        raise AssertionError("nothing was cut out of the engine: the two are the same")
    return module


def measure() -> list[Measurement]:
    """Both engines on each workload, with no log active."""
    bare = twin()
    return [compare(workload, bare) for name, workload in WORKLOADS.items() if name != "W5"]


def compare(workload: Workload, bare: Any) -> Measurement:
    """One workload."""
    make = partial(_tensor, bare)
    timings = interleave({"with": graphscope(workload), "without": torch_like(bare, make, workload)}, rounds=4 * ROUNDS)
    return Measurement(
        workload.name,
        {
            "seconds, with": timings.median("with"),
            "seconds, without": timings.median("without"),
            "share": timings.ratio("with", "without") - 1.0,
        },
    )


def _tensor(module: Any, value: Any) -> Any:
    return module.tensor(single(value))
