"""What the recorder costs when no log is active: the engine against a twin whose recording branches are cut out.

Of Python code the branches are cut out of the syntax tree; compiled code is built again without them.
"""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from importlib.abc import MetaPathFinder
from importlib.machinery import ExtensionFileLoader, ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import find_spec
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, Final

from benchmarks.engines import Step, UnavailableError, single, torch_like
from benchmarks.measure import ROUNDS, interleave
from benchmarks.results import Measurement
from benchmarks.workloads import WORKLOADS, Workload

PACKAGE: Final = "graphscope"
CUT: Final = f"{PACKAGE}.engine"
"""What asks whether it is being recorded."""

COMPILED: Final = f"{CUT}.core._calls"
"""A compiled module; where it is, the others are."""

NEVER: Final = "GRAPHSCOPE_NEVER_RECORDS"
"""Compiled modules that are built with this do not ask."""

ROOT: Final = Path(__file__).parent.parent

ANSWERS: Final = {
    "writer is not None": False,
    "gate is not None": False,
    "site is not None": False,
    "writer is None": True,
}
"""How these packages ask whether they are being recorded, and what the answer is when they are not."""

SOURCES: Final = frozenset({"recording.writer", "record.writer", "recording.active()", "record.active()"})
"""How they get at the active log; in the twin it is None."""


class Cutter(ast.NodeTransformer):
    """Cuts out what runs only while a log is active, and the question; `count` tells how often it did."""

    def __init__(self) -> None:
        self.count = 0

    def answer(self, test: ast.expr) -> bool | None:
        """What a condition comes to when nothing is recorded; None where it depends on more."""
        parts = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]
        answers = {ANSWERS.get(ast.unparse(part)) for part in parts}
        found = False if False in answers else True if answers == {True} else None
        self.count += found is not None
        return found

    def visit_If(self, node: ast.If) -> Any:
        answer = self.answer(node.test)
        if answer is None:
            return self.generic_visit(node)
        self.generic_visit(node)
        return (node.body if answer else node.orelse) or ast.copy_location(ast.Pass(), node)

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        answer = self.answer(node.test)
        self.generic_visit(node)
        return node if answer is None else node.body if answer else node.orelse

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
    """Finds the modules of `CUT` and loads them, cut if asked for; compiled modules, if there are any, from a folder.

    A compiled module keeps what it knows once per file: two engines in a process need a file each.
    """

    def __init__(self, folder: Path, *, cut: bool) -> None:
        self.folder = folder
        self.cut = cut

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        if not fullname.startswith(CUT):
            return None
        spec = PathFinder.find_spec(fullname, path)
        if spec is not None and isinstance(spec.loader, ExtensionFileLoader):
            return PathFinder.find_spec(fullname, [str(self.folder.joinpath(*fullname.split(".")[:-1]))])
        if self.cut and spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = CuttingLoader(fullname, spec.loader.path)
        return spec


def build(folder: Path, *options: str) -> None:
    """Build the compiled modules anew in a folder."""
    options = (*options, "--build-lib", str(folder), "--build-temp", str(folder / "objects"))
    done = subprocess.run(
        [sys.executable, "setup.py", "-q", "build_ext", *options], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode or not list(folder.glob(f"{COMPILED.replace('.', '/')}.*")):
        raise UnavailableError(f"the compiled modules could not be built: {done.stderr[-300:]}")


Modules = dict[str, ModuleType]


def apart(folder: Path, *, cut: bool) -> Modules:
    """An engine apart from others, the twin if `cut`; compiled modules, if ours has any, are built in this folder."""
    if find_spec(COMPILED):
        build(folder, *(("--define", NEVER) if cut else ()))
    return imported(Finder(folder, cut=cut))


def loaded() -> Modules:
    """The modules of graphscope that the interpreter knows now."""
    return {name: module for name, module in sys.modules.items() if name.partition(".")[0] == PACKAGE}


@contextmanager
def swapped(modules: Modules) -> Iterator[None]:
    """Let the package's names mean these modules; afterwards they mean the former ones again.

    Functions that import as they run would find the wrong package otherwise.
    """
    former = loaded()
    for name in former:
        del sys.modules[name]
    sys.modules.update(modules)
    try:
        yield
    finally:
        for name in loaded():
            del sys.modules[name]
        sys.modules.update(former)


def imported(*finders: MetaPathFinder) -> Modules:
    """The modules of a graphscope imported anew, by these finders where they find it; every public name resolved."""
    with swapped({}):
        sys.meta_path[:0] = finders
        try:
            module = importlib.import_module(PACKAGE)
            engine = importlib.import_module(f"{PACKAGE}.engine")
            for name in (*engine.__all__, "autograd", "nn", "optim"):
                getattr(module, name)
        finally:
            sys.meta_path[:] = [finder for finder in sys.meta_path if finder not in finders]
        return loaded()


def step_of(modules: Modules, workload: Workload) -> Step:
    """A workload in the hands of such an import."""
    module: Any = modules[PACKAGE]
    session = partial(swapped, modules)
    with session():
        step = torch_like(module, lambda x: module.tensor(single(x)), workload)
    return replace(step, session=session)


def measure() -> list[Measurement]:
    """Both engines on each workload, with no log active; both imported anew, so that neither has a past."""
    with tempfile.TemporaryDirectory() as folder:
        ours, twin = (apart(Path(folder) / str(cut), cut=cut) for cut in (False, True))
    if not CuttingLoader.cuts:
        raise AssertionError("nothing was cut out of the engine: the two are the same")
    return [compare(workload, ours, twin) for name, workload in WORKLOADS.items() if name != "W5"]


def compare(workload: Workload, ours: Modules, twin: Modules) -> Measurement:
    """One workload."""
    steps = {"with": step_of(ours, workload), "again": step_of(ours, workload), "without": step_of(twin, workload)}
    timings = interleave(steps, rounds=4 * ROUNDS)
    return Measurement(
        workload.name,
        {
            "seconds, with": timings.median("with"),
            "seconds, without": timings.median("without"),
            "share": timings.ratio("with", "without") - 1.0,
            "noise": timings.ratio("with", "again") - 1.0,
        },
    )
