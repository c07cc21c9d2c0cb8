"""The table of all training steps of a recording that leaves out some."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from graphscope.graph.names_of_steps import names_of_steps
from graphscope.graph.series import every_step, norms_of_steps
from graphscope.tables.batches import Batch, known

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log


def batches(log: Log) -> Iterator[Batch]:
    """The steps, all at once: so many are kept as fit into some megabytes."""
    steps, normed = every_step(log), norms_of_steps(log)
    places = np.searchsorted(steps["step"], normed["step"])
    there = places < len(steps)
    there[there] = steps["step"][places[there]] == normed["step"][there]
    norms, has_norm = np.zeros(len(steps)), np.zeros(len(steps), bool)
    norms[places[there]], has_norm[places[there]] = normed["norm"][there], True
    yield {
        "step": steps["step"],
        "step_name": names_of_steps(log, steps["step"]),
        "seconds": steps["time"],
        "loss": known(steps["loss"], steps["has_loss"]),
        "learning_rate": known(steps["rate"], ~np.isnan(steps["rate"])),
        "gradient_norm": known(norms, has_norm),
    }
