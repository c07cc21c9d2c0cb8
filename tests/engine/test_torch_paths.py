"""The paths by which ordinary programs import PyTorch's names, and what they ask it about the machine."""

from __future__ import annotations

import math

import pytest

import graphscope as gs

PATHS = [
    "nn.modules.loss._Loss",
    "nn.modules.loss._WeightedLoss",
    "nn.modules.batchnorm._BatchNorm",
    "nn.modules.conv._ConvNd",
    "nn.modules.conv.Conv2d",
    "nn.modules.activation.MultiheadAttention",
    "nn.modules.activation.Softmax",
    "nn.modules.container.Sequential",
    "nn.modules.linear.Linear",
    "nn.modules.rnn.LSTM",
    "nn.modules.sparse.Embedding",
    "nn.modules.transformer.TransformerEncoderLayer",
    "nn.modules.utils._pair",
    "nn.modules.module.Module",
    "nn.parallel.DataParallel",
    "nn.parameter.Parameter",
    "optim.lr_scheduler._LRScheduler",
    "optim.adamw.AdamW",
    "optim.optimizer.Optimizer",
    "distributions.normal.Normal",
    "distributions.categorical.Categorical",
    "distributions.kl.kl_divergence",
    "distributions.independent.Independent",
    "utils.data.dataset.Dataset",
    "utils.data.dataloader.DataLoader",
    "autograd.profiler.record_function",
    "profiler.record_function",
    "testing.assert_close",
    "cuda.amp.GradScaler",
    "amp.autocast",
    "autocast",
]


@pytest.mark.parametrize("path", PATHS)
def test_a_path_of_torch_leads_to_ours(path):
    module, _, name = f"torch.{path}".rpartition(".")
    with gs.as_torch():
        found: dict[str, object] = {}
        exec(f"from {module} import {name}", found)
    value = gs
    for part in path.split("."):
        value = getattr(value, part)
    assert found[name] is value or found[name].__name__.startswith("torch.")


def test_a_star_takes_what_a_module_has():
    with gs.as_torch():
        found: dict[str, object] = {}
        exec("from torch.utils.data import *\nfrom torch.optim.lr_scheduler import *", found)
    assert found["DataLoader"] is gs.utils.data.DataLoader
    assert found["StepLR"] is gs.optim.lr_scheduler.StepLR


def test_there_is_the_cpu_alone():
    for place in (gs.cuda, gs.xpu, gs.mps, gs.accelerator):
        assert (place.is_available(), place.device_count() if place is not gs.mps else 0) == (False, 0)
    assert gs.accelerator.current_accelerator() is None
    assert gs.cuda.memory_allocated() == gs.cuda.max_memory_allocated() == 0
    assert gs.version.cuda is None
    assert not gs.distributed.is_available()


def test_numbers_have_names():
    assert (gs.pi, gs.e, gs.inf, gs.newaxis) == (math.pi, math.e, math.inf, None)
    assert math.isnan(gs.nan)


def test_compile_gives_the_module_itself():
    net = gs.nn.Linear(2, 1)
    assert gs.compile(net, mode="max-autotune") is net
    assert gs.compile(dynamic=True)(abs) is abs


def test_data_parallel_calls_the_module_and_prefixes_its_names():
    net = gs.nn.Linear(2, 1)
    spread = gs.nn.DataParallel(net, device_ids=[0])
    assert list(spread.state_dict()) == ["module.weight", "module.bias"]
    assert gs.equal(spread(gs.ones(3, 2)), net(gs.ones(3, 2)))


def test_a_named_part_of_a_run_is_a_scope(tmp_path):
    with gs.record(tmp_path / "run.gscope") as log, gs.profiler.record_function("loading"):
        gs.ones(2).exp()
    (node,) = log.graph.select("op:exp")
    assert node.scope == "loading"
