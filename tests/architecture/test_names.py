"""The public names of the package: each resolves, none hides a submodule."""

from __future__ import annotations

import pkgutil

import pytest

import graphscope
from graphscope import HOMES

SEED_NAMES = ["tensor", "randn", "mm", "tanh", "no_grad", "manual_seed", "float32", "Tensor", "zeros", "ones"]


@pytest.mark.parametrize("name", [*HOMES, *SEED_NAMES])
def test_every_public_name_resolves(name: str) -> None:
    assert getattr(graphscope, name) is getattr(graphscope, name)
    assert name in dir(graphscope)


def test_submodules_are_reached_as_in_torch() -> None:
    assert graphscope.nn.functional.mse_loss
    assert graphscope.optim.SGD
    assert graphscope.autograd.grad


def test_no_public_name_is_that_of_a_submodule() -> None:
    submodules = {module.name for module in pkgutil.iter_modules(graphscope.__path__)}
    engine = set(__import__("graphscope.engine", fromlist=["*"]).__all__)
    assert not submodules & (set(HOMES) | engine)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'tensr'"):
        _ = graphscope.tensr
    with pytest.raises(ImportError, match="tensr"):
        exec("from graphscope import tensr")
