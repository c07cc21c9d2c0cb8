"""Ask torchlens of the models of its own tests what they call: `python -m tests.referees FOLDER`, that of those tests.

They are not in its wheel: take the folder `tests` from its repository.
"""

from __future__ import annotations

import argparse
import copy
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.referees.torchlens_calls import differences, recorded, traced


class Judge:
    """Stands in the place of torchlens's own test of a model."""

    def __init__(self) -> None:
        self.models = self.calls = 0
        self.found: dict[str, list[str]] = {}
        self.failed: dict[str, str] = {}

    def __call__(self, model: Any, given: Any, input_kwargs: Any = None, **_: Any) -> bool:
        """Compare both, of copies of a model."""
        name, keywords = type(model).__name__, input_kwargs or {}
        self.models += 1
        try:
            torch.manual_seed(0)
            theirs = traced(copy.deepcopy(model), given, keywords)
        except Exception as error:  # torchlens's own failure is no answer
            self.failed[name] = f"torchlens: {type(error).__name__}: {str(error)[:100]}"
            return True
        torch.manual_seed(0)
        ours = recorded(copy.deepcopy(model), given, keywords)
        self.calls += len(theirs)
        if other := differences(theirs, ours):
            self.found[name] = other
        return True


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("-k", dest="chosen", default="")
    options = parser.parse_args()
    import torchlens.validation
    import torchlens.visualization

    judge = Judge()
    torchlens.validation.validate_forward_pass = judge
    torchlens.visualization.show_model_graph = lambda *_, **__: None
    sys.path.insert(0, str(options.folder))
    pytest.main([str(options.folder / "test_toy_models.py"), "-q", "-p", "no:cacheprovider", "-k", options.chosen])
    for name, other in judge.found.items():
        print(name, *other[:8], sep="\n    ")
    for name, why in judge.failed.items():
        print(name, why)
    print(
        f"{judge.models} models, {judge.calls} calls; {len(judge.found)} models told otherwise, {len(judge.failed)} not"
    )
    return bool(judge.found)


if __name__ == "__main__":
    raise SystemExit(main())
