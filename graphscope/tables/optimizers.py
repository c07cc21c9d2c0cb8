"""The table of optimizers and their groups."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from graphscope.graph.training import training
from graphscope.tables.batches import Batch

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log


def batches(log: Log) -> Iterator[Batch]:
    """The optimizers of a log, all at once: there are few."""
    told = training(log)
    groups = [(each, place, group) for each in told.optimizers.values() for place, group in enumerate(each.groups)]
    rates = [group.settings.get("lr") for _, _, group in groups]
    yield {
        "optimizer": [each.number for each, _, _ in groups],
        "type": [each.type for each, _, _ in groups],
        "site": [each.site or None for each, _, _ in groups],
        "group": [place for _, place, _ in groups],
        "learning_rate": [float(rate) if isinstance(rate, int | float) else None for rate in rates],
        "settings": [json.dumps(dict(group.settings)) for _, _, group in groups],
        "parameters": [group.count for _, _, group in groups],
        "names": [[name for tensor in group.tensors if (name := told.name(tensor))] for _, _, group in groups],
    }
