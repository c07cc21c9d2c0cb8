"""A job as a page: the symptom, the program, each key with what it does, and the screens as text."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tests.jobs.job import SIZES, Job, Step, Text
from tests.tui.terminal import ROOT

FOLDER: Final = ROOT / "docs" / "jobs"
_CALLED: Final = {"C-t": "Ctrl-T", "C-d": "Ctrl-D", "Escape": "Esc", "PageUp": "PgUp", "PageDown": "PgDn"}


def page(job: Job, screens: dict[tuple[int, int], Sequence[str]]) -> str:
    """The page of a job, with the screens after each step at each size."""
    parts = [f"# {job.title}", job.symptom, _counted(job), _program(job.program)]
    for (width, height), seen in screens.items():
        parts.append(f"## At {width}×{height}")
        parts += ["\n".join(f"    $ {line}" for line in job.ahead)] if job.ahead else []
        for step, screen in zip(job.steps, seen, strict=True):
            parts.append(_words(step))
            parts += [f"```text\n{_clean(screen)}\n```"] if step in kept(job, (width, height)) else []
    return "\n\n".join(parts) + "\n"


def index(jobs: Sequence[Job]) -> str:
    """The page that leads to all of them."""
    rows = [f"| [{job.title}]({job.name}.md) | {job.symptom} | {job.keys} |" for job in jobs]
    return "\n".join([_INDEX.strip(), "", "| job | | keys |", "|---|---|---|", *rows, ""])


_INDEX: Final = """
# Ten jobs

What people sit down to do, each done in a terminal of 80×24 and one of 200×50: the keys one by one, and the screens.
A key counts as one, and so does a text that is typed as one entry: the words of a search, a line for the prompt, an
answer to a program. Lines for the shell count as none. `make transcripts` does all of them again and writes these
pages; a test does so, too, and sees to it that the screens still say what they are to say.
"""


def _counted(job: Job) -> str:
    pressed = [_key(key) for step in job.steps for key in step.keys]
    times: list[tuple[str, int]] = []
    for key in pressed:
        if times and times[-1][0] == key:
            times[-1] = key, times[-1][1] + 1
        else:
            times.append((key, 1))
    told = " ".join(f"{key}{f' ({count} times)' if count > 1 else ''}" for key, count in times)
    return f"**{job.keys} keys**: {told}" if job.keys != 1 else f"**1 key**: {told}"


def _program(path: Path) -> str:
    if path.is_relative_to(ROOT / "samples"):
        name = path.relative_to(ROOT).as_posix()
        return f"The program is [{name}](../../{name})."
    return f"The program, `{path.name}`:\n\n```python\n{path.read_text(encoding='utf-8').strip()}\n```"


def kept(job: Job, size: tuple[int, int]) -> Sequence[Step]:
    """The steps whose screens are in the page: of a large screen the last."""
    seen = [step for step in job.steps if step.seen]
    return seen if size == SIZES[0] else seen[-1:]


def _words(step: Step) -> str:
    keys = f"`$ {step.runs}`" if step.runs else " ".join(map(_key, step.keys))
    return f"{keys}: {step.says}" if step.says else keys


def _clean(screen: str) -> str:
    return "\n".join(line.rstrip() for line in screen.rstrip().splitlines())


def _key(key: str | Text) -> str:
    return f"“{key.words}”" if isinstance(key, Text) else f"`{_CALLED.get(key, key)}`"
