"""Examines the doctor: records every program of the gallery, asks what is wrong with it, and compares with what is.

python tests/gallery/score.py FOLDER                     # all of it (an hour on one core), logs are kept in FOLDER
python tests/gallery/score.py FOLDER --only 07 23 -j 2   # programs whose name begins so, two at a time
python tests/gallery/score.py FOLDER --record            # only makes the logs that FOLDER lacks (30 GB in all)
python tests/gallery/score.py FOLDER --discard           # keeps the answers alone, no logs
python tests/gallery/score.py FOLDER --gallery PATH      # another gallery of the same form
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from graphscope.cli import main as cli_main
from graphscope.diagnose import doctor, every

HERE = pathlib.Path(__file__).resolve().parent
SETS: Final = ("sick", "cured", "healthy")
SECONDS: Final = 600
"""A program that is recorded for so long is ended."""

NOT_DEFINED: Final = (
    "0/0", "division by zero", "root of a negative", "log of a negative", "infinity minus infinity", "infinity times 0",
    "spread of one element", "mean of nothing", "all -inf row", "out of domain", "undefined", "of an infinity",
    "infinity over infinity", "pole of gamma", "no alignment",
)  # fmt: skip
"""Causes of a NaN that an op makes going forward."""

TWICE: Final = "nondeterminism"
"""The kind of fault of which one recording can't tell: its programs and their twins are recorded again."""

KINDS: Final[dict[tuple[str, str], tuple[str, ...]]] = {
    **{("nan", cause): ("nan_forward",) for cause in NOT_DEFINED},
    ("nan", "overflow"): ("overflow",),
    ("nan", "log of zero"): ("log_of_zero",),
    ("nan", "log at zero"): ("log_of_zero", "nan_backward"),
    ("nan", "root at zero"): ("nan_backward",),
    ("nan", "slope at 1"): ("nan_backward",),
    ("nan", "masked"): ("nan_backward",),
    ("nan", "born backward"): ("nan_backward",),
    ("nan", "no finite slope"): ("nan_backward",),
    ("nan", "equal singular values"): ("nan_backward",),
    ("nan", "log near zero"): ("nan_backward",),
    ("nan", "root near zero"): ("nan_backward",),
    ("nan", "division by nearly zero"): ("overflow",),
    ("nan", "overflow of a sum"): ("overflow", "exploding_gradient"),
    ("nan", "data"): ("constant_data", "unnormalised_inputs"),
    ("missing", ""): ("gradient_cut",),
    ("missing", "frozen"): ("frozen",),
    ("missing", "on its way"): ("gradient_cut", "step_order"),
    ("missing", "not on a path to the loss"): ("never_used", "gradient_cut"),
    ("vanished", "relu closed"): ("dead_relu",),
    ("vanished", "saturated"): ("saturation",),
    ("vanished", "underflow"): ("vanishing_gradient",),
    ("vanished", "zeros"): ("bad_init",),
    ("overwritten", ""): ("inplace",),
    ("raised", ""): ("raised",),
}
"""Where checks and the gallery use other words: by check and cause (or any cause), the gallery's kinds."""


@dataclass(frozen=True)
class Case:
    """One program, recorded under one policy."""

    program: str
    values: str
    findings: tuple[dict[str, Any], ...]
    failed: tuple[str, ...]
    """Checks that raised, and what could not be read."""


def kinds_of(finding: dict[str, Any]) -> tuple[str, ...]:
    """The gallery's words for a finding: for each of its causes, where the log leaves more than one open."""
    kind, cause = finding["kind"], finding["cause"]
    causes = ("masked",) if cause.startswith("masked ") else re.split(" or | and ", cause)
    found = (KINDS.get((kind, each)) or KINDS.get((kind, "")) or (kind,) for each in causes)
    return tuple(dict.fromkeys(word for words in found for word in words))


@dataclass(frozen=True)
class Task:
    """One program that is to be recorded under one policy, and judged."""

    gallery: pathlib.Path
    program: str
    values: str
    log: pathlib.Path
    twice: bool

    @property
    def recorded(self) -> bool:
        return self.log.with_suffix(".done").exists()

    @property
    def again(self) -> list[pathlib.Path]:
        """Two more recordings, each made by a process of its own."""
        return [self.log.with_name(f"{self.log.stem}-again-{number}.gscope") for number in range(2)] * self.twice

    def record(self) -> None:
        shutil.rmtree(self.log, ignore_errors=True)  # of one that was ended
        self.log.parent.mkdir(parents=True, exist_ok=True)
        os.chdir(self.gallery / self.program)
        status = main_of(["record", "--values", self.values, "--log", str(self.log), "main.py"])
        for again in self.again:
            shutil.rmtree(again, ignore_errors=True)
            words = ["-m", "graphscope", "record", "--values", self.values, "--log", str(again), "main.py"]
            environment = {**os.environ, "PYTHONPATH": str(HERE.parents[1])}  # each with a seed of its own for hashes
            subprocess.run([sys.executable, *words], env=environment, check=False)
        self.log.with_suffix(".done").write_text(f"{status}\n")

    def judge(self) -> None:
        """Write down what the doctor says of the log."""
        answer = self.log.with_suffix(".json")
        answer.unlink(missing_ok=True)
        if self.recorded:
            report = doctor(self.log).data()
            if self.again:
                report["findings"] += doctor(*self.again).data()["findings"]
            answer.write_text(json.dumps(report))

    def judge_once(self) -> None:
        """Record, judge, and keep the answer alone."""
        self.record()
        self.judge()
        for log in (self.log, *self.again):
            shutil.rmtree(log)

    def case(self) -> Case | None:
        """What was written down; None where nothing was recorded."""
        if not self.recorded:
            return None
        try:
            answer = json.loads(self.log.with_suffix(".json").read_text())
        except (OSError, ValueError):
            return Case(self.program, self.values, (), ("no answer",))
        failed = tuple(gap["why"] for gap in answer["unjudged"] if "failed" in gap["why"])
        return Case(self.program, self.values, tuple(answer["findings"]), failed)


def main_of(words: list[str]) -> int:
    """Run `graphscope WORDS...` in this process."""
    try:
        return cli_main(words)
    except SystemExit as end:
        return int(end.code or 0)


def each_in_a_child(work: Callable[[Task], None], tasks: Iterable[Task], jobs: int) -> None:
    """Do some work for each task, so many at a time, in children that inherit what is imported."""
    running: set[int] = set()
    for task in tasks:
        if len(running) >= jobs:
            running.discard(os.wait()[0])
        child = os.fork()
        if child == 0:
            try:
                quiet = os.open(os.devnull, os.O_RDWR)
                for number in range(3):
                    os.dup2(quiet, number)
                signal.alarm(SECONDS)
                work(task)
            finally:
                os._exit(0)
        running.add(child)
    for child in running:
        os.waitpid(child, 0)


def points_at(finding: dict[str, Any], entry: dict[str, Any], *, lenient: bool) -> bool:
    """Whether a finding names a line where a finger should point."""
    places = [entry, *(entry.get("elsewhere", []) if lenient else [])]
    return any(
        finding["line"] in place["lines"] and finding["file"].endswith(f"/{entry['program']}/{place['file']}")
        for place in places
    )


def report(cases: Iterable[Case], expected: dict[str, dict[str, Any]], *, each_program: bool) -> Iterator[str]:
    """The score as Markdown."""
    cases = list(cases)
    policies = sorted({case.values for case in cases})
    yield "# Score of the doctor on the gallery"
    yield ""
    yield f"| | {' | '.join(f'values {policy}' for policy in policies)} |"
    yield f"| --- |{' --- |' * len(policies)}"
    for title, count in ROWS.items():
        numbers = [count([case for case in cases if case.values == policy], expected) for policy in policies]
        yield f"| {title} | {' | '.join(f'{good} of {all_}' for good, all_ in numbers)} |"
    for policy in policies:
        mine = [case for case in cases if case.values == policy]
        yield from ("", f"## Expected and found, values {policy}", "", "| kind | first finding | programs | located |")
        yield "| --- | --- | --- | --- |"
        yield from confusion(mine, expected)
        yield from ("", "| check | sick: right | sick: beside | cured and healthy |", "| --- | --- | --- | --- |")
        yield from by_check(mine, expected)
        if not each_program:
            continue
        yield from ("", f"### Programs, values {policy}", "")
        for case in mine:
            words = ", ".join(map(short, case.findings))
            entry = expected.get(case.program)
            verdict = grade(case, entry) if entry else ("FALSE ALARM" if case.findings else "silent")
            failed = f" — {'; '.join(case.failed)}" if case.failed else ""
            yield f"- {case.program}: {verdict}: {words or '-'}{failed}"


def short(finding: dict[str, Any]) -> str:
    return f"{finding['kind']} ({finding['cause']}) {pathlib.Path(finding['file']).name}:{finding['line']}"


def grade(case: Case, entry: dict[str, Any]) -> str:
    if not case.findings:
        return "missed"
    strict = any(points_at(each, entry, lenient=False) for each in case.findings)
    lenient = any(points_at(each, entry, lenient=True) for each in case.findings)
    place = "located" if strict else "located elsewhere" if lenient else "not located"
    kinds = {kind for each in case.findings for kind in kinds_of(each)}
    right = "right kind" if entry["kind"] in kinds else "fair kind" if kinds & set(entry["also"]) else "wrong kind"
    return f"{place}, {right} ({entry['kind']})"


def confusion(cases: list[Case], expected: dict[str, dict[str, Any]]) -> Iterator[str]:
    pairs: Counter[tuple[str, str]] = Counter()
    located: Counter[tuple[str, str]] = Counter()
    for case in cases:
        if (entry := expected.get(case.program)) is None:
            continue
        first = "/".join(kinds_of(case.findings[0])) if case.findings else "nothing"
        pairs[entry["kind"], first] += 1
        located[entry["kind"], first] += any(points_at(each, entry, lenient=False) for each in case.findings)
    for (kind, first), number in sorted(pairs.items()):
        yield f"| {kind} | {first} | {number} | {located[kind, first]} |"


def by_check(cases: list[Case], expected: dict[str, dict[str, Any]]) -> Iterator[str]:
    right: Counter[str] = Counter()
    beside: Counter[str] = Counter()
    false: Counter[str] = Counter()
    for case in cases:
        entry = expected.get(case.program)
        for each in case.findings:
            if entry is None:
                false[each["kind"]] += 1
            elif points_at(each, entry, lenient=True):
                right[each["kind"]] += 1
            else:
                beside[each["kind"]] += 1
    for kind in sorted({*right, *beside, *false}):
        yield f"| {kind} | {right[kind]} | {beside[kind]} | {false[kind]} |"


Row = Callable[[list[Case], dict[str, dict[str, Any]]], tuple[int, int]]


def _sick(holds: Callable[[Case, dict[str, Any]], bool]) -> Row:
    def count(cases: list[Case], expected: dict[str, dict[str, Any]]) -> tuple[int, int]:
        sick = [(case, expected[case.program]) for case in cases if case.program in expected]
        return sum(holds(case, entry) for case, entry in sick), len(sick)

    return count


def _alarms(kind: str) -> Row:
    def count(cases: list[Case], expected: dict[str, dict[str, Any]]) -> tuple[int, int]:
        well = [case for case in cases if case.program.startswith(f"{kind}/")]
        return sum(bool(case.findings) for case in well), len(well)

    return count


def _kinds(findings: Iterable[dict[str, Any]]) -> set[str]:
    return {kind for each in findings for kind in kinds_of(each)}


ROWS: Final[dict[str, Row]] = {
    "located (strict)": _sick(lambda case, entry: any(points_at(f, entry, lenient=False) for f in case.findings)),
    "located (lenient)": _sick(lambda case, entry: any(points_at(f, entry, lenient=True) for f in case.findings)),
    "located by the first finding": _sick(
        lambda case, entry: any(points_at(f, entry, lenient=False) for f in case.findings[:1])
    ),
    "right kind": _sick(lambda case, entry: entry["kind"] in _kinds(case.findings)),
    "right or fair kind": _sick(lambda case, entry: bool(_kinds(case.findings) & {entry["kind"], *entry["also"]})),
    "right kind of the first finding": _sick(lambda case, entry: entry["kind"] in _kinds(case.findings[:1])),
    "something found": _sick(lambda case, entry: bool(case.findings)),
    "false alarms, cured": _alarms("cured"),
    "false alarms, healthy": _alarms("healthy"),
}
"""The rows of the table."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path, help="where logs are kept, to be judged again")
    parser.add_argument("-j", dest="jobs", type=int, default=1, help="so many programs at a time")
    parser.add_argument("--only", nargs="*", default=[], help="beginnings of names")
    parser.add_argument("--values", nargs="*", default=["full", "summary"], help="policies")
    parser.add_argument("--each", action="store_true", help="say also what was found in each program")
    parser.add_argument("--judge", action="store_true", help="only judge what is recorded")
    parser.add_argument("--record", action="store_true", help="only record")
    parser.add_argument("--discard", action="store_true", help="keep no logs, only what is said of them")
    parser.add_argument("--gallery", type=pathlib.Path, default=HERE, help="a folder with programs and expected.json")
    options = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.dont_write_bytecode = True
    gallery = options.gallery.resolve()
    expected = {entry["program"]: entry for entry in json.loads((gallery / "expected.json").read_text())["programs"]}
    tasks = list(tasks_of(gallery, options.folder.resolve(), options.only, options.values, expected))
    missing = [task for task in tasks if not task.recorded]
    every()
    if not options.judge:
        importlib.import_module("torch.utils.data")  # once, before the children are made
        each_in_a_child(Task.judge_once if options.discard else Task.record, missing, options.jobs)
    if options.record:
        return
    if not options.discard:
        each_in_a_child(Task.judge, tasks, options.jobs)
    cases = [case for task in tasks if (case := task.case()) is not None]
    print("\n".join(report(cases, expected, each_program=options.each)))


def tasks_of(
    gallery: pathlib.Path,
    folder: pathlib.Path,
    beginnings: list[str],
    policies: list[str],
    expected: dict[str, dict[str, Any]],
) -> Iterator[Task]:
    """Each program whose name begins so under each policy."""
    twice = {name.partition("/")[2] for name, entry in expected.items() if entry["kind"] == TWICE}
    for kind in SETS:
        for place in sorted((gallery / kind).iterdir()):
            if not (place / "main.py").exists() or not place.name.startswith(tuple(beginnings) or ""):
                continue
            program = f"{kind}/{place.name}"
            for values in policies:
                again = place.name in twice and kind != "healthy"
                yield Task(gallery, program, values, folder / values / f"{program}.gscope", again)


if __name__ == "__main__":
    main()
