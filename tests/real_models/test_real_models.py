"""Models of libraries, trained as people do it: nothing is wrong with them, and recorded they learn just the same."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

import graphscope as gs

torch = pytest.importorskip("torch")
runs = pytest.importorskip("tests.real_models.runs")
drawn = pytest.importorskip("tests.real_models.drawn")

pytestmark = [pytest.mark.torch, pytest.mark.slow]

TRAINED = [
    ("transformers/bert", "in_groups", "full"),
    ("transformers/bert", "averaged_at_the_end", "summary"),
    ("transformers/roberta", "mixed", "summary"),
    ("transformers/deberta-v2", "saved_and_resumed", "full"),
    ("transformers/gpt2", "thawed_later", "summary"),
    ("transformers/llama", "accumulated", "summary"),
    ("transformers/mixtral", "warmed_up", "full"),
    ("transformers/mamba", "one_batch", "summary"),
    ("transformers/t5", "computed_again", "summary"),
    ("transformers/vit", "head_alone", "full"),
    ("transformers/clip", "averaged", "summary"),
    ("transformers/wav2vec2", "in_epochs", "summary"),
    ("transformers/whisper", "scaled", "summary"),
    ("used/head", "by_a_trainer", "summary"),
    ("used/low-rank-llama", "warmed_up", "summary"),
    ("timm/resnet10t", "mixed", "summary"),
    ("timm/convnext_atto", "averaged", "summary"),
    ("timm/vit_tiny_patch16_224", "head_alone", "full"),
    ("torchvision/resnet18", "in_epochs", "summary"),
]
AGAIN = [
    ("transformers/bert", "warmed_up", "full"),
    ("transformers/deepseek-v3", "in_epochs", "summary"),
    ("transformers/gpt2", "head_alone", "summary"),  # not rwkv, which makes its weights of memory that nobody wrote
    ("transformers/marian", "scaled", "summary"),
]
DRAWN = ["transformers/albert", "transformers/distilbert", "transformers/longformer", "transformers/gpt2"]
ATTENTIONS = ["transformers/gpt2", "transformers/qwen2-moe", "transformers/bart", "transformers/vit"]


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def of_library(model: str, training: str = "") -> None:
    """Skip what a library is missing for: only transformers belongs to the tests."""
    library = model.partition("/")[0]
    pytest.importorskip("transformers" if library == "used" else library, exc_type=Exception)
    if training == "by_a_trainer":
        pytest.importorskip("accelerate")


@pytest.mark.parametrize(("model", "training", "values"), TRAINED)
def test_nothing_is_wrong_and_nothing_else_is_learned(model: str, training: str, values: str, tmp_path: Path) -> None:
    of_library(model, training)
    assert runs.losses(model, training) == runs.recorded(model, training, values, tmp_path / "run.gscope")
    report = gs.doctor(tmp_path / "run.gscope")
    assert not report.findings
    assert not [gap for gap in report.unjudged if "failed" in gap.why]


@pytest.mark.parametrize(("model", "training", "values"), AGAIN)
def test_two_recordings_are_the_same(model: str, training: str, values: str, tmp_path: Path) -> None:
    of_library(model, training)
    found = runs.again(model, training, values, tmp_path)
    assert found.verdict == "same", str(found)


@pytest.mark.parametrize("model", ATTENTIONS)
def test_attention_as_one_op_is_that_which_is_written_out(model: str, tmp_path: Path) -> None:
    of_library(model)
    found = runs.attentions(model, tmp_path)
    assert found.verdict == "same", str(found)


@pytest.mark.parametrize("lost", ["events.npy", "values.npy"])
def test_what_is_left_of_a_log_is_judged_and_compared(lost: str, tmp_path: Path) -> None:
    of_library("transformers/gpt2")
    whole, left = tmp_path / "whole.gscope", tmp_path / "left.gscope"
    for log in (whole, left):
        runs.recorded("transformers/gpt2", "one_batch", "summary", log)
    max((left / "segments").iterdir()).joinpath(lost).unlink()
    assert not [gap for gap in gs.doctor(left).unjudged if "failed" in gap.why]
    assert gs.diff(whole, left).verdict in ("same", "parted")


def test_a_picture_of_one_pass_is_without_the_making_of_the_model(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    with gs.record(tmp_path / "run.gscope", values="none"):
        model = transformers.GPT2LMHeadModel(transformers.GPT2Config(n_layer=12, n_head=2, n_embd=8, vocab_size=61))
        ids = torch.randint(0, 61, (1, 8))
        model(ids, labels=ids).loss.backward()
    picture = str(gs.export(tmp_path / "run.gscope", format="svg"))
    assert 30 < picture.count('class="node"') <= 60
    assert "normal_" not in picture
    assert all(f"h.{block}<" in picture for block in range(12))


@pytest.mark.parametrize("model", DRAWN)
def test_the_default_picture_can_be_read(model: str) -> None:
    of_library(model)
    found = drawn.drawn(model)
    assert 10 < found.boxes <= 80
    assert found.width < 3000
