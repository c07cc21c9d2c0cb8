"""Whole models as libraries have them, against a second implementation or another configuration with the same weights:
they are the same, and one planted fault is found on both sides."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from graphscope.compare import diff

ROOT = Path(__file__).parents[2]
MODELS = Path(__file__).parent / "models"
LIBRARIES = {
    "gpt2": ("transformers",), "bert": ("transformers",), "llama": ("transformers",), "checkpointed": ("transformers",),
    "vit": ("torchvision", "timm"), "resnet": ("torchvision", "timm"), "channels_last": (),
}  # fmt: skip

pytestmark = [pytest.mark.torch, pytest.mark.slow]


@dataclass(frozen=True)
class Fault:
    """Something that the second program does otherwise, and what is to be said of it."""

    model: str
    right: str
    wrong: str
    when: str
    a: str
    """What stands in the line that is named of the first program: the person's own, where the model is a library's."""
    b: str
    said: str


def library(model: str, right: str, wrong: str, said: str) -> Fault:
    """A fault in the configuration of a library's model: the line that calls it is named."""
    return Fault(model, right, wrong, "forward", "model(", "model(", said)


NORM = "self.before, self.behind = RMSNorm(width, 1e-6)"
DROPOUT = "attention_dropout=0.1,"
FAULTS = (
    Fault("gpt2", "[1e-5] * layers", "[1e-5] * 5 + [1e-12] + [1e-5] * 6", "forward", "model(", "self.norm1(x)", "eps"),
    Fault("gpt2", "(1 + 3 * 0.044715", "(1 + 2 * 0.044715", "backward", "model(", "Gelu.apply", "Gelu"),
    library("bert", '"sdpa"', '"sdpa", layer_norm_eps=1e-5', "eps"),
    library("bert", "attention_mask=mask", "attention_mask=None", "attention"),
    Fault("llama", "[..., :half], x[..., half:]", "[..., ::2], x[..., 1::2]", "forward", "model(", "::2", "index"),
    Fault("llama", NORM, NORM.replace("-6", "-5"), "forward", "model(", "rsqrt", "1e-05"),
    Fault("llama", "F.silu", "F.gelu", "forward", "model(", "gelu", "gelu"),
    library("vit", "embed_dim=32,", 'embed_dim=32, act_layer=lambda: torch.nn.GELU("tanh"),', "approximate"),
    library("resnet", "optimizer =", "model.layer2[0].bn1.eps = 1e-3\noptimizer =", "eps"),
    Fault("channels_last", "F.relu(h + self", "(F.relu(h) + self", "forward", "self.short", "self.short", "relu"),
    library("checkpointed", DROPOUT, DROPOUT + " rms_norm_eps=1e-5,", "1e-05"),
)


def recorded(program: Path, log: Path) -> Path:
    command = [sys.executable, "-W", "ignore", "-m", "graphscope", "record", "--log", str(log), str(program)]
    subprocess.run(command, check=True, capture_output=True, cwd=ROOT)  # a process of its own: some hold gigabytes
    return log


class Recordings:
    """The logs of programs, each made once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._made: dict[tuple[str, str, str], Path] = {}

    def log(self, model: str, name: str, right: str = "", wrong: str = "") -> Path:
        for library in LIBRARIES[model]:
            pytest.importorskip(library, exc_type=Exception)
        key = model, name, wrong
        if key not in self._made:
            text = (MODELS / model / f"{name}.py").read_text(encoding="utf-8")
            assert right in text
            place = self._folder / f"{model}-{len(self._made)}"
            place.mkdir()
            (place / f"{name}.py").write_text(text.replace(right, wrong, 1), encoding="utf-8")
            self._made[key] = recorded(place / f"{name}.py", place / f"{name}.gscope")
        return self._made[key]


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> Recordings:
    return Recordings(tmp_path_factory.mktemp("models"))


@pytest.mark.parametrize("model", LIBRARIES)
def test_two_implementations_are_the_same(model: str, recordings: Recordings) -> None:
    found = diff(recordings.log(model, "a"), recordings.log(model, "b"))
    assert found.verdict == "same", str(found)


def test_fused_attention_is_the_same(recordings: Recordings) -> None:
    found = diff(recordings.log("gpt2", "a", '"eager"', '"sdpa"'), recordings.log("gpt2", "b"))
    assert found.verdict == "same", str(found)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: f"{fault.model}-{fault.said}")
def test_a_fault_is_found_in_a_model(fault: Fault, recordings: Recordings) -> None:
    found = diff(recordings.log(fault.model, "a"), recordings.log(fault.model, "b", fault.right, fault.wrong))
    place = found.first
    assert place is not None, found
    assert place.a is not None, found
    assert place.b is not None, found
    assert place.when == fault.when, str(found)
    assert fault.a in place.a.source, str(found)
    assert fault.b in place.b.source, str(found)
    assert fault.said in str(found), str(found)
