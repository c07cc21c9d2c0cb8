"""Hooks of modules, side by side with PyTorch's: what they see, what they may change, in which order."""

from __future__ import annotations

import numpy as np
import pytest

import graphscope as gs

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch


def scaled(t):
    """A module of two inputs and two outputs."""

    class Scaled(t.nn.Module):
        def forward(self, x, y=2.0, *, shift=0.0):
            return x * y + shift, x + 1

    return Scaled()


def plain(value):
    if isinstance(value, gs.Tensor | torch.Tensor):
        return np.round(value.detach().numpy().astype(float), 6).tolist()
    if isinstance(value, tuple | list):
        return [plain(part) for part in value]
    return {key: plain(part) for key, part in value.items()} if isinstance(value, dict) else value


def forward_hooks(t, seen):
    module, x = scaled(t), t.tensor([1.0, 2.0])
    module.register_forward_pre_hook(lambda m, args: seen.append(("before", args)) or (args[0] + 1, *args[1:]))
    module.register_forward_hook(lambda m, args, out: seen.append(("after", args, out)) or (out[0] * 10, out[1]))
    module.register_forward_hook(lambda m, args, out: seen.append(("then", out)))
    module.register_forward_hook(lambda m, args, out: seen.append(("first", out)), prepend=True)
    return module(x, 3.0)


def hooks_with_keywords(t, seen):
    module, x = scaled(t), t.tensor([1.0])
    module.register_forward_pre_hook(lambda m, args, kw: (args, {**kw, "shift": 5.0}), with_kwargs=True)
    module.register_forward_hook(lambda m, args, kw, out: seen.append((args, kw, out)), with_kwargs=True)
    return module(x, y=4.0)


def taken_back(t, seen):
    module, x = scaled(t), t.tensor([1.0])
    handle = module.register_forward_hook(lambda m, args, out: seen.append("one"))
    with module.register_forward_hook(lambda m, args, out: seen.append("two")):
        module(x)
    handle.remove()
    handle.remove()
    return module(x)


def called_after_failure(t, seen):
    module = scaled(t)
    module.register_forward_hook(lambda m, args, out: seen.append(("always", out)), always_call=True)
    module.register_forward_hook(lambda m, args, out: seen.append("never"))
    with pytest.raises(TypeError):
        module(t.tensor([1.0]), nothing=1)
    return ()


def backward_hooks(t, seen):
    module = scaled(t)
    x, y = t.tensor([1.0, 2.0], requires_grad=True), t.tensor([3.0, 4.0], requires_grad=True)
    module.register_full_backward_pre_hook(lambda m, grad_output: seen.append(("come", grad_output)))
    module.register_full_backward_hook(lambda m, gi, go: seen.append(("gone", gi, go)))
    one, _ = module(x, y)
    one.sum().backward()
    return x.grad, y.grad


def gradients_replaced(t, seen):
    module = t.nn.Sequential(t.nn.Linear(2, 2), t.nn.Tanh())
    with t.no_grad():
        for parameter in module.parameters():
            parameter.fill_(0.5)
    x = t.tensor([[1.0, 2.0]], requires_grad=True)
    module[0].register_full_backward_hook(lambda m, gi, go: tuple(g * 100 for g in gi))
    module[1].register_full_backward_pre_hook(lambda m, go: tuple(g * 3 for g in go))
    module(x).sum().backward()
    return x.grad, [parameter.grad for parameter in module.parameters()]


def no_input_wants_a_gradient(t, seen):
    module = t.nn.Linear(2, 1)
    with t.no_grad():
        module.weight.fill_(1.0)
    module.register_full_backward_hook(lambda m, gi, go: seen.append((gi, go)))
    with pytest.warns(UserWarning, match="no inputs require gradients"):
        module(t.ones(1, 2)).sum().backward()
    return module.weight.grad


def without_gradients(t, seen):
    module = t.nn.Tanh()
    module.register_full_backward_hook(lambda m, gi, go: seen.append("never"))
    with t.no_grad():
        return module(t.ones(1, requires_grad=True))


PROGRAMS = [
    forward_hooks,
    hooks_with_keywords,
    taken_back,
    called_after_failure,
    backward_hooks,
    gradients_replaced,
    no_input_wants_a_gradient,
    without_gradients,
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_hooks_see_and_change_what_they_do_in_torch(program):
    found = []
    for t in (gs, torch):
        seen = []
        found.append(plain([program(t, seen), seen]))
    assert found[0] == found[1]


def test_hooks_of_every_module():
    seen = []
    handle = gs.nn.modules.module.register_module_forward_hook(lambda m, args, out: seen.append(type(m).__name__))
    module = gs.nn.Sequential(gs.nn.Tanh(), gs.nn.ReLU())
    module(gs.ones(1))
    handle.remove()
    module(gs.ones(1))
    assert seen == ["Tanh", "ReLU", "Sequential"]


@pytest.mark.parametrize("t", [gs, torch], ids=["gs", "torch"])
def test_state_dict_hooks(t):
    module = t.nn.Linear(1, 1)
    seen = []
    module.register_state_dict_pre_hook(lambda m, prefix, keep: seen.append((prefix, keep)))
    module.register_state_dict_post_hook(lambda m, state, prefix, meta: state.update(extra=t.ones(1)))
    module.register_load_state_dict_pre_hook(lambda m, state, *rest: state.pop("extra"))
    module.register_load_state_dict_post_hook(lambda m, keys: seen.append(tuple(keys)))
    state = module.state_dict()
    assert list(state) == ["weight", "bias", "extra"]
    module.load_state_dict(state)
    assert seen == [("", False), ([], [])]
