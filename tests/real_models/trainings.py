"""The ways in which people train such models, each for 20 steps; all of them are healthy."""

from __future__ import annotations

import contextlib
import copy
import io
import tempfile
from collections.abc import Callable
from typing import Any, Final

import torch
from torch import nn

from tests.real_models.data import Batches

STEPS: Final = 20

Training = Callable[[nn.Module, Batches], list[float]]
"""Trains a model with such batches, and says what its losses were."""


def warmed_up(model: nn.Module, batch: Batches) -> list[float]:
    """AdamW with warm-up, clipping, and an evaluation now and then."""
    losses = []
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
        losses.append(loss.item())
        if step % 8 == 7:
            model.eval()
            with torch.no_grad():
                model(**batch())
            model.train()
    return losses


def in_epochs(model: nn.Module, batch: Batches) -> list[float]:
    """SGD with momentum, in epochs, with gradients of two batches together."""
    losses = []
    optimizer = torch.optim.SGD(model.parameters(), lr=0.002, momentum=0.9, weight_decay=1e-4)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.5)
    for _ in range(2):
        model.train()
        for step in range(STEPS // 2):
            loss = model(**batch()).loss / 2
            loss.backward()
            losses.append(loss.item())
            if step % 2:
                optimizer.step()
                optimizer.zero_grad()
        scheduler.step()
        model.eval()
        with torch.inference_mode():
            model(**batch())
    return losses


def mixed(model: nn.Module, batch: Batches) -> list[float]:
    """Autocast to bfloat16, a cosine schedule to its end, and clipping by value."""
    losses = []
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, betas=(0.9, 0.95))
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, STEPS)
    model.train()
    for _ in range(STEPS):
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = model(**batch()).loss
        loss.backward()
        nn.utils.clip_grad_value_(model.parameters(), 0.5)
        optimizer.step()
        scheduler.step()
        losses.append(loss.item())
    return losses


def averaged(model: nn.Module, batch: Batches) -> list[float]:
    """A copy that follows as a moving average, and is what is evaluated."""
    losses = []
    average = copy.deepcopy(model).eval().requires_grad_(False)
    optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-4)
    model.train()
    for step in range(STEPS):
        loss = model(**batch()).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        with torch.no_grad():
            for mean, now in zip(average.parameters(), model.parameters(), strict=True):
                mean.lerp_(now, 0.1)
            for mean, now in zip(average.buffers(), model.buffers(), strict=True):
                mean.copy_(now)
            if step % 10 == 9:
                average(**batch())
    return losses


def averaged_at_the_end(model: nn.Module, batch: Batches) -> list[float]:
    """Weights of the last steps averaged by PyTorch's own class."""
    losses = []
    average = torch.optim.swa_utils.AveragedModel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, nesterov=True)
    for step in range(STEPS):
        loss = model(**batch()).loss
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
        if step > STEPS // 2:
            average.update_parameters(model)
    average.eval()
    with torch.no_grad():
        average(**batch())
    return losses


def _head(model: nn.Module) -> list[nn.Parameter]:
    """The last parameters that a loss reaches: a head that is put on a body."""
    shared: dict[int, int] = {}
    for _, parameter in model.named_parameters(remove_duplicate=False):
        shared[id(parameter)] = shared.get(id(parameter), 0) + 1
    layers = [[each for each in layer.parameters(recurse=False) if each.ndim > 1] for layer in model.modules()]
    return next(each for each in reversed(layers) if each and all(shared[id(parameter)] == 1 for parameter in each))


def head_alone(model: nn.Module, batch: Batches) -> list[float]:
    """A body frozen on purpose, all of it in the optimizer all the same."""
    losses = []
    for parameter in model.parameters():
        parameter.requires_grad = False
    for parameter in _head(model):
        parameter.requires_grad = True
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    model.train()
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = model(**batch()).loss
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def thawed_later(model: nn.Module, batch: Batches) -> list[float]:
    """The head alone for an epoch, then all at rates of their own."""
    losses = []
    head = _head(model)
    mine = {id(each) for each in head}
    body = [each for each in model.parameters() if id(each) not in mine]
    for parameter in body:
        parameter.requires_grad_(False)
    optimizer = torch.optim.AdamW(head, lr=5e-3)
    model.train()
    for step in range(STEPS):
        if step == STEPS // 2:
            for parameter in body:
                parameter.requires_grad_(True)
            optimizer.add_param_group({"params": body, "lr": 1e-4})
        optimizer.zero_grad()
        loss = model(**batch()).loss
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def in_groups(model: nn.Module, batch: Batches) -> list[float]:
    """No decay of vectors, rates that fall layer by layer, and one cycle of the rate."""
    losses = []
    named = [(name, each) for name, each in model.named_parameters() if each.requires_grad]
    groups = [
        {"params": [each], "lr": 1e-3 * 0.9 ** (len(named) - place), "weight_decay": 0.0 if each.ndim < 2 else 0.05}
        for place, (_, each) in enumerate(named)
    ]
    optimizer = torch.optim.NAdam(groups, lr=1e-3)
    rates = [group["lr"] for group in groups]
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=rates, total_steps=STEPS, pct_start=0.3)
    for _ in range(STEPS):
        model.train()
        loss = model(**batch()).loss
        loss.backward()
        optimizer.step()
        scheduler.step()
        model.zero_grad()
        losses.append(loss.item())
    return losses


def computed_again(model: nn.Module, batch: Batches) -> list[float]:
    """Activations computed again in the backward pass, where the model can."""
    if hasattr(model, "gradient_checkpointing_enable"):
        with contextlib.suppress(ValueError):
            model.gradient_checkpointing_enable()
    return warmed_up(model, batch)


def saved_and_resumed(model: nn.Module, batch: Batches) -> list[float]:
    """Half of the steps, all saved, all made anew and loaded, and the other half; the best weights at the end."""
    losses: list[float] = []
    best, kept = float("inf"), copy.deepcopy(model.state_dict())
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for half in range(2):
        if half:
            file = io.BytesIO()
            torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, file)
            file.seek(0)
            saved = torch.load(file)
            model = copy.deepcopy(model)
            model.load_state_dict(saved["model"])
            optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
            optimizer.load_state_dict(saved["optimizer"])
        for _ in range(STEPS // 2):
            model.train()
            loss = model(**batch()).loss
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            if losses[-1] < best:
                best, kept = losses[-1], copy.deepcopy(model.state_dict())
    model.load_state_dict(kept)
    return losses


def scaled(model: nn.Module, batch: Batches) -> list[float]:
    """Losses scaled for gradients of half precision, unscaled ahead of the clip."""
    losses = []
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**10)
    model.train()
    for _ in range(STEPS):
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = model(**batch()).loss
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.item())
    return losses


def one_batch(model: nn.Module, batch: Batches) -> list[float]:
    """The same batch again and again, to see whether the model can learn at all."""
    losses, fixed = [], batch()
    optimizer = torch.optim.RAdam(model.parameters(), lr=1e-3)
    model.train()
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = model(**copy.copy(fixed)).loss
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def accumulated(model: nn.Module, batch: Batches) -> list[float]:
    """Gradients of four batches for each step, and a rate that waits for the loss to stop falling."""
    losses: list[float] = []
    optimizer = torch.optim.Adagrad(model.parameters(), lr=5e-3)
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=5, factor=0.5)
    model.train()
    optimizer.zero_grad()
    for step in range(4 * STEPS):
        loss = model(**batch()).loss
        (loss / 4).backward()
        losses.append(loss.item())
        if (step + 1) % 4 == 0:
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
            scheduler.step(sum(losses[-4:]) / 4)
    return losses


class _Samples(torch.utils.data.Dataset[dict[str, Any]]):
    """The rows of some batches, one by one."""

    def __init__(self, batch: Batches, batches: int) -> None:
        made = [batch() for _ in range(batches)]
        self._rows = [
            {name: value[row] for name, value in each.items() if isinstance(value, torch.Tensor)}
            for each in made
            for row in range(len(next(value for value in each.values() if isinstance(value, torch.Tensor))))
        ]

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, place: int) -> dict[str, Any]:
        return self._rows[place]


def by_a_trainer(model: nn.Module, batch: Batches) -> list[float]:
    """The loop of transformers, with warm-up, decay, two batches a step, and evaluations."""
    from transformers import Trainer, TrainingArguments

    with tempfile.TemporaryDirectory() as folder:
        settings = TrainingArguments(
            output_dir=folder, per_device_train_batch_size=4, gradient_accumulation_steps=2, max_steps=STEPS,
            learning_rate=1e-3, weight_decay=0.01, warmup_steps=4, logging_steps=1, eval_strategy="steps",
            eval_steps=10, save_strategy="no", report_to=[], disable_tqdm=True, use_cpu=True,
        )  # fmt: skip
        trainer = Trainer(
            model=model, args=settings, train_dataset=_Samples(batch, 20), eval_dataset=_Samples(batch, 2)
        )
        with contextlib.redirect_stdout(io.StringIO()):
            trainer.train()
    return [each["loss"] for each in trainer.state.log_history if "loss" in each]


def two_steps(model: nn.Module, batch: Batches) -> list[float]:
    """As few as show whether two implementations learn the same."""
    losses = []
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    model.train()
    for _ in range(2):
        optimizer.zero_grad()
        loss = model(**batch()).loss
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


TRAININGS: Final[dict[str, Training]] = {
    each.__name__: each
    for each in (
        warmed_up, in_epochs, mixed, averaged, averaged_at_the_end, head_alone, thawed_later, in_groups,
        computed_again, saved_and_resumed, scaled, one_batch, accumulated, by_a_trainer,
    )
}  # fmt: skip
