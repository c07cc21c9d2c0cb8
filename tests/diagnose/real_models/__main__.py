"""Models of transformers, timm and torchvision, trained for 20 steps: the doctor is to have nothing to say of them.

They are no dependency of the tests. Install what you have, and name the models (globs), or none for all:

    pip install transformers timm torchvision
    python -m tests.diagnose.real_models "transformers/*bert*" timm/resnet18

All are made from small configurations, with random weights and data that can be learned; nothing is downloaded.
"""

from __future__ import annotations

import argparse
import fnmatch
import gc
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import torch
from torch import nn

import graphscope as gs
from graphscope.diagnose import Report
from graphscope.graph import series
from tests.diagnose.real_models.data import Batches, classified, masked
from tests.diagnose.real_models.images import TIMM, TORCHVISION, timm_model, torchvision_model
from tests.diagnose.real_models.language import TRANSFORMERS, transformer
from tests.diagnose.real_models.used import Distilled, Tagger, frozen_features, with_low_rank

STEPS = 20

MADE: dict[str, Callable[[], tuple[nn.Module, Batches]]] = {
    **{f"transformers/{name}": lambda name=name: transformer(name) for name in TRANSFORMERS},  # type: ignore[misc]
    **{f"timm/{name}": lambda name=name: timm_model(name) for name in TIMM},  # type: ignore[misc]
    **{f"torchvision/{name}": lambda name=name: torchvision_model(name) for name in TORCHVISION},  # type: ignore[misc]
    "used/head": lambda: (Tagger(), classified),
    "used/frozen": lambda: (Tagger(frozen=True), classified),
    "used/low-rank-llama": lambda: with_low_rank("llama"),
    "used/low-rank-bert": lambda: with_low_rank("bert"),
    "used/distilled": lambda: (Distilled(), masked),
    "used/features": frozen_features,
}


def adam(model: nn.Module, batch: Batches) -> None:
    """AdamW with warm-up, clipping, and an evaluation now and then."""
    learning = [each for each in model.parameters() if each.requires_grad]
    optimizer = torch.optim.AdamW(learning, lr=2e-3, weight_decay=0.01)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / 5))
    model.train()
    for step in range(STEPS):
        loss = model(**batch()).loss
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(learning, 1.0)
        optimizer.step()
        scheduler.step()
        if step % 8 == 7:
            model.eval()
            with torch.no_grad():
                model(**batch())
            model.train()


def momentum(model: nn.Module, batch: Batches) -> None:
    """SGD with momentum, in epochs, with gradients of two batches together."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.002, momentum=0.9, weight_decay=1e-4)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.5)
    for _ in range(2):
        model.train()
        for step in range(STEPS // 2):
            (model(**batch()).loss / 2).backward()
            if step % 2:
                optimizer.step()
                optimizer.zero_grad()
        scheduler.step()
        model.eval()
        with torch.inference_mode():
            model(**batch())


def trained(name: str, values: str, log: Path) -> Report:
    """What the doctor says of a model that was recorded as it learned."""
    torch.manual_seed(0)
    train = momentum if name.startswith("torchvision/") or len(name) % 4 == 0 else adam
    with gs.record(log, values=values):  # type: ignore[arg-type]
        model, batch = MADE[name]()
        train(model, batch)
    return gs.doctor(log)


def runs(names: list[str]) -> Iterator[tuple[str, str]]:
    for place, name in enumerate(names):
        yield from ((name, values) for values in ("summary", *(("full", "none") if place % 3 == 0 else ())))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=["*"])
    parser.add_argument("--values", choices=("full", "summary", "none"))
    options = parser.parse_args()
    names = [name for name in MADE if any(fnmatch.fnmatch(name, pattern) for pattern in options.names)]
    alarms = 0
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    for name, values in ((name, options.values) for name in names) if options.values else runs(names):
        with tempfile.TemporaryDirectory() as folder:
            try:
                report = trained(name, values, Path(folder) / "run.gscope")
            except Exception as error:  # one that this version makes otherwise, or that needs more than there is
                print(f"{name} {values}: {type(error).__name__}: {str(error).splitlines()[0][:150]}", flush=True)
                continue
            found = [*report, *(inner for each in report for inner in each.consequences)]
            failed = [gap for gap in report.unjudged if "failed" in gap.why]
            alarms += len(found) + len(failed)
            losses = series.losses(gs.load(report.log))["value"]
            learnt = f"{report.events:,} rows, loss {losses[0]:.3g} to {losses[-1]:.3g}"
            print(f"{name} {values} ({learnt}): {len(found) or 'nothing'} found", flush=True)
            for each in found:
                print(f"    {each.kind} {each.file}:{each.line} {each.names[:3]}: {each.verdict}", flush=True)
            for gap in failed:
                print(f"    {gap.what}: {gap.why}", flush=True)
        gc.collect()
    print(f"{alarms} alarms")
    return alarms > 0


if __name__ == "__main__":
    raise SystemExit(main())
