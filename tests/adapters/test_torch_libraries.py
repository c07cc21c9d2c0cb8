"""Models that nobody here wrote are recorded as they are; each library is optional, and no weights are fetched."""

# ruff: noqa: E402 - what is imported below needs PyTorch

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

torch = pytest.importorskip("torch")

from torch import nn

import graphscope as gs
from graphscope.debugger import interpreter
from graphscope.debugger.debugger import Debugger
from graphscope.eventlog.reader import load
from tests.adapters.test_torch_account import nodes_of

pytestmark = [pytest.mark.torch, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

Model = tuple[nn.Module, Callable[[], torch.Tensor]]
"""A model, and its loss on a new batch."""

SMALL: Final = {
    "vocab_size": 50, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64,
}  # fmt: skip


def image_model(library: str, name: str, size: int = 32, **options: Any) -> Model:
    models = pytest.importorskip(library, exc_type=Exception)
    make = models.create_model if library == "timm" else models.get_model
    model = make(name, num_classes=10, **options)
    return model, lambda: nn.functional.cross_entropy(model(torch.randn(2, 3, size, size)), torch.tensor([0, 1]))


def language_model(name: str, **settings: Any) -> Model:
    library = pytest.importorskip("transformers", exc_type=Exception)
    config = library.AutoConfig.for_model(name, **settings)
    kind = library.AutoModelForSeq2SeqLM if name == "t5" else library.AutoModelForCausalLM
    model = kind.from_config(config)

    def loss() -> Any:
        tokens = torch.randint(0, 50, (2, 12))
        return model(input_ids=tokens, labels=tokens).loss

    return model, loss


def classifier() -> Model:
    library = pytest.importorskip("transformers", exc_type=Exception)
    model = library.BertForSequenceClassification(library.BertConfig(**SMALL))
    labels = torch.tensor([0, 1])
    return model, lambda: model(input_ids=torch.randint(0, 50, (2, 12)), labels=labels).loss


MODELS: Final[dict[str, Callable[[], Model]]] = {
    "gpt2": lambda: language_model("gpt2", vocab_size=50, n_embd=32, n_layer=2, n_head=4, n_positions=32),
    "llama": lambda: language_model("llama", **SMALL),
    "mixtral": lambda: language_model("mixtral", **SMALL, num_key_value_heads=2, num_local_experts=4),
    "mamba": lambda: language_model("mamba", vocab_size=50, hidden_size=32, num_hidden_layers=2, state_size=4),
    "t5": lambda: language_model(
        "t5", vocab_size=50, d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4, decoder_start_token_id=0
    ),
    "bert": classifier,
    "vit": lambda: image_model("timm", "vit_tiny_patch16_224", img_size=32, patch_size=8, depth=2),
    "convnext": lambda: image_model("timm", "convnext_atto"),
    "resnet": lambda: image_model("torchvision.models", "resnet18"),
    "swin": lambda: image_model("torchvision.models", "swin_t"),
}


def train(name: str, look: Callable[[torch.Tensor], object]) -> list[torch.Tensor]:
    """Two steps; `look` sees each loss before its backward."""
    torch.manual_seed(0)
    model, loss = MODELS[name]()
    model.train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    losses = []
    for _ in range(2):
        optimizer.zero_grad()
        value = loss()
        look(value)
        value.backward()
        optimizer.step()
        losses.append(value.detach().clone())
    gradients = [each.grad.clone() for each in model.parameters() if each.grad is not None]
    return [*losses, *gradients, *(each.clone() for each in model.state_dict().values()), torch.get_rng_state()]


@pytest.mark.parametrize("name", MODELS)
def test_a_model_of_a_library_is_seen_whole_and_not_changed(name: str, tmp_path: Path) -> None:
    bare = train(name, lambda loss: None)
    inner = 0

    def count(loss: torch.Tensor) -> None:
        nonlocal inner
        inner += sum(not hasattr(node, "variable") for node in nodes_of(loss.grad_fn))

    with gs.record(tmp_path / "run.gscope", values="summary") as log:
        recorded = train(name, count)
    log.refresh()
    for mine, theirs in zip(bare, recorded, strict=True):
        assert torch.equal(mine, theirs)
    graph = log.graph
    assert sum(node.kind == "grad" for node in graph.nodes) == inner  # as torch's own account has it
    gs.export(log, tmp_path / "graph.dot")
    debugger = Debugger(load(tmp_path / "run.gscope"))
    ahead = interpreter.run(debugger, "s 200")
    interpreter.run(debugger, "rs 150")
    assert interpreter.run(debugger, "s 150").node.row == ahead.node.row
