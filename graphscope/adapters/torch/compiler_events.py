"""What `torch.compile` says of its own work: graphs that broke, functions that it compiled, and compiled once more.

PyTorch tells its structured log of each, whether anybody reads that or not; we listen where it does.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from typing import Any, Final

import torch

from graphscope.adapters.torch.recorder_errors import guarded
from graphscope.adapters.torch.session import Session
from graphscope.eventlog.places import Line, line_number
from graphscope.eventlog.schema import Kind

_BREAK: Final = re.compile(
    r"Graph break in user code at (?P<file>.+):(?P<line>\d+)\n(?:Graph Break )?Reason: (?P<reason>.*?)\s*"
    r"\n(?:User code traceback|Stack variable source attribution):",
    re.DOTALL,
)
_PARTS: Final = re.compile(r"(?P<title>[^\n]*)\n  Explanation: (?P<explanation>[^\n]*)")
_HINT: Final = re.compile(r"^  Hint: (.*)$", re.MULTILINE)
_GUARD: Final = re.compile(r"(?P<compilation>[\d/]+): (?P<guard>.*?)(?:\s+# [^\n]*)?(?:\n(?P<stack>.*))?", re.DOTALL)
_RESUMED: Final = re.compile(r"torch_dynamo_resume_in_(\w+)_at_\d+")
_HEARD: Final = frozenset({"artifact", "compilation_metrics"})
_LINE: Final = re.compile(r'File "(.+?)", line (\d+), in (.+)')


class CompilerEvents:
    """Appends a mark for each.

    Args:
        session: Whose log they go to.
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        self._failed: dict[str, list[str]] = {}
        """By compilation: the guards because of which the function is compiled once more."""
        self._functions: dict[str, Line] = {}
        """The first lines of the functions that were compiled, by the number of the function."""

    def entries(self) -> Iterator[tuple[Any, str, Any]]:
        """What is patched for that: owner, name and value."""
        original = vars(torch._logging).get("trace_structured")
        if original is not None:
            yield torch._logging, "trace_structured", self._wrapped(original)

    def _wrapped(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """What PyTorch calls to tell its structured log of something."""

        @functools.wraps(original)
        def trace_structured(name: str, metadata_fn: Any = dict, **told: Any) -> Any:
            if name in _HEARD and not (self.session.ended or self.session.places.here.busy):
                self.note(name, metadata_fn, told.get("payload_fn"))
            return original(name, metadata_fn, **told)

        return trace_structured

    @guarded
    def note(self, name: str, described: Callable[[], dict[str, Any]], told: Callable[[], Any] | None) -> None:
        """PyTorch tells of something: by what describes it, and by what it is."""
        about = described()
        compilation = str(torch._guards.CompileContext.current_compile_id() or about.get("compile_id") or "")
        if name == "compilation_metrics":
            self._compiled(compilation, about)
        elif about.get("name") == "dynamo_graph_break_reason" and told is not None:
            self._broke(compilation, str(told()))
        elif about.get("name") == "recompile_reasons" and told is not None:
            reasons = told()
            self._failed[compilation] = [reasons] if isinstance(reasons, str) else list(reasons)

    def _broke(self, compilation: str, text: str) -> None:
        found = _BREAK.match(text)
        if found is not None:
            self._mark("break", Line(found["file"], int(found["line"]), ""), compilation, **_parts(found["reason"]))

    def _compiled(self, compilation: str, metrics: dict[str, Any]) -> None:
        """A function was compiled, or could not be."""
        number = compilation.partition("/")[0]
        if metrics.get("co_filename"):
            name = function_of_code(str(metrics["co_name"]))
            self._functions[number] = Line(str(metrics["co_filename"]), int(metrics["co_firstlineno"]), name)
        place = self._functions.get(number)
        failed = [self._guard(each) for each in self._failed.pop(compilation, ())]
        told: dict[str, Any] = {"function": "" if place is None else place.function}
        if failed:
            told["failed"] = failed
        if metrics.get("fail_type") is None:
            counts = {"calls": metrics.get("graph_op_count"), "guards": metrics.get("guard_count")}
            self._mark("compiled", place, compilation, **told, **counts)
        else:
            self._mark("skipped", place, compilation, **told, **_parts(str(metrics.get("fail_reason") or "")))

    def _guard(self, text: str) -> dict[str, Any]:
        """A guard that failed: of which compilation, and the line of the program that it is because of."""
        found = _GUARD.fullmatch(text)
        if found is None:
            return {"guard": text}
        told: dict[str, Any] = {"compilation": found["compilation"], "guard": found["guard"]}
        lines = _LINE.findall(found["stack"] or "")
        if lines:
            file, line, function = lines[-1]
            told["site_number"] = line_number(self.session.writer, Line(file, int(line), function))
        return told

    def _mark(self, event: str, line: Line | None, compilation: str, **told: Any) -> None:
        writer = self.session.writer
        site = 0 if line is None else line_number(writer, line)
        writer.mark(Kind.COMPILE, site=site, compiler=event, compilation=compilation, **told)


def function_of_code(name: str) -> str:
    """The function of the program that a code is of: behind a break, the compiler goes on in one of its own."""
    return _RESUMED.sub(r"\1", name)


def _parts(reason: str) -> dict[str, Any]:
    """Why the compiler gave up, as PyTorch says it, and the parts of that."""
    found = _PARTS.search(reason)
    return {
        "reason": reason,
        "title": reason.partition("\n")[0] if found is None else found["title"],
        "explanation": "" if found is None else found["explanation"],
        "hints": _HINT.findall(reason),
    }
