"""Runs a person's program in this process, so that it can't tell the difference from `python PROGRAM`."""

from __future__ import annotations

import builtins
import sys
import threading
import types
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.abc import InspectLoader
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from graphscope.cli import INTERRUPTED
from graphscope.cli.tracebacks import hide_recorders
from graphscope.errors import UsageError


@dataclass(frozen=True)
class Program:
    """What a person wants to run: a script (also a folder or zip with a `__main__.py`), or a module."""

    name: str
    arguments: tuple[str, ...] = ()
    is_module: bool = False


@dataclass(frozen=True)
class Loaded:
    """A program ready to run: the module `__main__` as Python would have made it, and how to get its code."""

    main: types.ModuleType
    compile: Callable[[], types.CodeType | None]


def run(program: Program) -> int:
    """Run a program as Python does, and wait for its threads.

    Returns:
        Its exit status. An exception that it does not handle is printed as Python prints it, without our frames.

    Raises:
        UsageError: if there is no such program.
    """
    return execute(load(program))


def load(program: Program) -> Loaded:
    """Find a program and arrange `sys.argv`, `sys.path[0]` and `__main__` for it.

    Raises:
        UsageError: if there is no such program.
    """
    return _load_module(program) if program.is_module else _load_script(program)


def execute(loaded: Loaded, failed: Callable[[BaseException], None] | None = None) -> int:
    """Run what `load` returned; see `run`.

    Args:
        loaded: The program.
        failed: Called with an exception that the program did not handle, after it was printed.
    """
    try:
        code = loaded.compile()
        if code is not None:
            exec(code, loaded.main.__dict__)  # noqa: S102 (running the program is the task)
        status = 0
    except SystemExit as leaving:
        status = _exit_status(leaving.code)
    except BaseException as error:  # noqa: BLE001 (whatever it is, it is the program's and is shown as Python shows it)
        status = _report(error, loaded.main)
        if failed is not None:
            failed(error)
    _join_threads()
    return status


def _load_script(program: Program) -> Loaded:
    path = Path(program.name)
    if not path.exists():
        raise UsageError(f"there is no script {program.name!r}", "A module is run with -m.")
    if path.is_dir() or path.suffix in (".zip", ".pyz"):
        folder = str(path.absolute())
        spec = PathFinder.find_spec("__main__", [folder])
        if spec is None and (path / "log.json").exists():
            raise UsageError(f"{program.name!r} is a recording, not a program", f"graphscope open {program.name}")
        if spec is None:
            raise UsageError(f"{program.name!r} has no __main__.py to run", "Name the script itself.")
        _arrange(program.name, program.arguments, folder)
        return _from_spec(spec)
    _arrange(program.name, program.arguments, str(path.resolve().parent))
    file = str(path.absolute())
    loader = SourceFileLoader("__main__", file)
    source = loader.get_data(file)
    main = _main_module(file, loader, None)
    return Loaded(main, partial(compile, source, file, "exec", dont_inherit=True))


def _load_module(program: Program) -> Loaded:
    _arrange("-m", program.arguments, str(Path.cwd()))
    spec = _find(program.name)
    if spec is not None and spec.submodule_search_locations is not None:
        spec = _find(f"{program.name}.__main__")
        if spec is None:
            raise UsageError(f"the package {program.name!r} has no module __main__ to run")
    if spec is None or spec.origin is None:
        raise UsageError(f"there is no module {program.name!r}", "A script is named without -m.")
    sys.argv[0] = spec.origin
    return _from_spec(spec)


def _find(name: str) -> ModuleSpec | None:
    try:
        return find_spec(name)
    except ModuleNotFoundError as error:
        # A parent package that is missing is one thing, a parent that fails on an import of its own another.
        if error.name is not None and name.startswith(f"{error.name}."):
            return None
        raise UsageError(f"the package of {name!r} can't be imported: {error}") from error
    except ValueError as error:
        raise UsageError(f"{name!r} can't be run: {error}") from error


def _from_spec(spec: ModuleSpec) -> Loaded:
    loader = spec.loader
    # Importers of zip files have `get_code` without being registered as InspectLoader.
    get_code = loader.get_code if isinstance(loader, InspectLoader) else getattr(loader, "get_code", None)
    if get_code is None:
        raise UsageError(f"{spec.name!r} is no Python code that can be run")
    return Loaded(_main_module(spec.origin or spec.name, loader, spec), partial(get_code, spec.name))


def _arrange(first: str, arguments: tuple[str, ...], folder: str) -> None:
    sys.argv[:] = [first, *arguments]
    if not sys.flags.safe_path:
        sys.path[0] = folder


def _main_module(file: str, loader: object, spec: ModuleSpec | None) -> types.ModuleType:
    main = types.ModuleType("__main__")
    main.__dict__.update(
        __builtins__=builtins,
        __file__=file,
        __loader__=loader,
        __spec__=spec,
        __package__=spec.parent if spec is not None else None,
        __cached__=None,
    )
    if sys.version_info < (3, 14):  # from there on Python makes them when they are asked for
        main.__annotations__ = {}
    sys.modules["__main__"] = main
    return main


def _exit_status(code: object) -> int:
    """What `sys.exit(code)` makes of its argument."""
    if code is None:
        return 0
    if isinstance(code, int):
        return code
    print(code, file=sys.stderr)
    return 1


def _report(error: BaseException, main: types.ModuleType) -> int:
    """Print an exception that the program did not handle, from the program's own first frame on."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_globals is not main.__dict__:
        trace = trace.tb_next
    error.__traceback__ = trace
    hide_recorders(error)
    sys.excepthook(type(error), error, error.__traceback__)
    return INTERRUPTED if isinstance(error, KeyboardInterrupt) else 1


def _join_threads() -> None:
    # Python waits for them when it ends; waiting here keeps what they do in the recording. As it does there, pools are
    # told first that no more work comes, for which their threads would wait without end. A program that is started
    # again in this process has pools of its own.
    pools: Any = sys.modules.get("concurrent.futures.thread")
    if pools is not None:
        pools._python_exit()
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()
    if pools is not None:
        pools._shutdown = False
