"""Models of transformers, timm and torchvision, trained for 20 steps: the doctor is to have nothing to say of them, and
they are to learn exactly what they learn when nothing is recorded. With `--pairs`, two recordings of each are compared,
and attention written out with attention as one op: they are to be the same. With `--exact`, each is trained for two
steps alone and at every level of recording: to the last bit they are to come out the same, be drawn, and say of each
gradient that is None why. With `--drawn`, each is drawn as SVG and HTML: within 10 s of the processor each, with at
most 80 boxes in the default picture; `--into FOLDER` keeps the files to be looked at.

They are no dependency of the tests. Install what you have, and name models and trainings (globs), or none for all:

    pip install transformers timm torchvision accelerate
    python -m tests.real_models "transformers/*bert*" timm/resnet18 --trainings mixed averaged

All are made from small configurations, with random weights and data that can be learned; nothing is downloaded.
Where no training is named, each model has two of them in turn, and of pairs one.
"""

from __future__ import annotations

import argparse
import fnmatch
import gc
import tempfile
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import torch

import graphscope as gs
from graphscope.compare import Difference
from graphscope.graph import series
from tests.real_models.drawn import HEADINGS, drawn, entry
from tests.real_models.exact import judged
from tests.real_models.models import MODELS
from tests.real_models.runs import ATTENTIONS, again, attentions, losses, recorded
from tests.real_models.trainings import TRAININGS


def runs(
    models: list[str], trainings: list[str] | None, values: str | None, turns: int
) -> Iterator[tuple[str, str, str]]:
    """What is trained, how, and what is kept of it."""
    names = list(TRAININGS)
    for place, model in enumerate(models):
        for turn in trainings or (names[place % len(names)], names[(3 * place + 5) % len(names)])[:turns]:
            yield model, turn, values or ("full", "summary", "summary")[place % 3]


def alarms(model: str, training: str, values: str) -> int:
    """How much is wrong with what is said of a model; it is printed."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "run.gscope"
        is_the_same = losses(model, training) == recorded(model, training, values, log)
        report = gs.doctor(log)
        told = series.losses(gs.load(log))["value"]
    found = [*report, *(inner for each in report for inner in each.consequences)]
    failed = [gap for gap in report.unjudged if "failed" in gap.why]
    learnt = f"{report.events:,} rows, loss {told[0]:.3g} to {told[-1]:.3g}"
    exact = "" if is_the_same else ", OTHER LOSSES THAN UNRECORDED"
    print(f"{model} {training} {values} ({learnt}{exact}): {len(found) or 'nothing'} found", flush=True)
    for each in found:
        print(f"    {each.kind} {each.file}:{each.line} {each.names[:3]}: {each.verdict}", flush=True)
    for gap in failed:
        print(f"    {gap.what}: {gap.why}", flush=True)
    return len(found) + len(failed) + (not is_the_same)


def partings(model: str, training: str, values: str) -> int:
    """How many of the pairs of a model part; it is printed where."""
    pairs: dict[str, Callable[[Path], Difference]] = {
        f"{training} {values}, again": lambda folder: again(model, training, values, folder)
    }
    if model in ATTENTIONS:
        pairs["eager and fused attention"] = lambda folder: attentions(model, folder)
    count = 0
    for title, compared in pairs.items():
        with tempfile.TemporaryDirectory() as folder:
            found = compared(Path(folder))
        print(f"{model} {title}: {found.verdict}", flush=True)
        if found.verdict != "same":
            print(found, flush=True)
            count += 1
    return count


def differences(model: str) -> int:
    """How much of a model is other when it is recorded, or can't be told; it is printed."""
    found = judged(model)
    print(f"{model}: {found.missing} gradients are None, drawn in {found.picture:,} bytes", flush=True)
    for each in (*found.levels, *found.unexplained):
        print(f"    {each}", flush=True)
    return len(found.levels) + len(found.unexplained)


def unreadable(model: str, folder: Path | None) -> int:
    """Whether the default picture of a model can't be read at a glance, or takes long; a row of a table is printed."""
    found = drawn(model, folder)
    print(f"| {' | '.join(entry(model, found))} |", flush=True)
    return not found.is_readable


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", default=["*"])
    parser.add_argument("--trainings", nargs="+", choices=list(TRAININGS))
    parser.add_argument("--values", choices=("full", "summary", "none"))
    parser.add_argument("--pairs", action="store_true")
    parser.add_argument("--exact", action="store_true")
    parser.add_argument("--drawn", action="store_true")
    parser.add_argument("--into", type=Path, metavar="FOLDER")
    options = parser.parse_args()
    models = [name for name in MODELS if any(fnmatch.fnmatch(name, pattern) for pattern in options.models)]
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    count = 0
    judges: list[partial[int]]
    if options.exact:
        judges = [partial(differences, model) for model in models]
    elif options.drawn:
        print(f"| {' | '.join(HEADINGS)} |\n|{' --- |' * len(HEADINGS)}")
        judges = [partial(unreadable, model, options.into) for model in models]
    else:
        trained = runs(models, options.trainings, options.values, 1 if options.pairs else 2)
        judges = [partial(partings if options.pairs else alarms, *run) for run in trained]
    for judge in judges:
        try:
            count += judge()
        except Exception as error:  # a model that this version makes otherwise, or that needs more than there is
            print(*judge.args, f"{type(error).__name__}: {str(error).partition(chr(10))[0][:150]}", flush=True)
        gc.collect()
    print(f"{count} {'differences' if options.exact else 'pictures too large' if options.drawn else 'alarms'}")
    return count > 0


if __name__ == "__main__":
    raise SystemExit(main())
