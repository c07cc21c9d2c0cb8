"""What modules hold under names, side by side with PyTorch: walking, replacing, refusing, containers."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import graphscope as gs

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch


def net(t):
    module = t.nn.Module()
    module.register_buffer("mean", t.zeros(2))
    module.register_buffer("hidden", t.ones(1), persistent=False)
    module.register_buffer("empty", None)
    module.scale = t.nn.Parameter(t.ones(3))
    module.register_parameter("none", None)
    module.body = t.nn.Sequential(t.nn.Linear(2, 2), t.nn.BatchNorm1d(2))
    module.body.add_module("act", t.nn.ReLU())
    module.twin = module.body[0]
    module.parts = t.nn.ModuleDict({"a": t.nn.Tanh(), "b": t.nn.ModuleList([t.nn.Linear(2, 1, bias=False)])})
    return module


def names(pairs):
    return [name for name, _ in pairs]


PROGRAMS = {
    "parameters": lambda t, m: names(m.named_parameters()),
    "parameters with twins": lambda t, m: names(m.named_parameters(remove_duplicate=False)),
    "own parameters": lambda t, m: names(m.named_parameters(prefix="net", recurse=False)),
    "buffers": lambda t, m: names(m.named_buffers()),
    "own buffers": lambda t, m: len(list(m.buffers(recurse=False))),
    "modules": lambda t, m: names(m.named_modules()),
    "modules with twins": lambda t, m: names(m.named_modules(remove_duplicate=False, prefix="x")),
    "children": lambda t, m: names(m.named_children()),
    "state": lambda t, m: list(m.state_dict()),
    "state with prefix": lambda t, m: list(m.state_dict(prefix="net.")),
    "state metadata": lambda t, m: dict(m.state_dict()._metadata),
    "kept graph": lambda t, m: [v.requires_grad for v in m.state_dict(keep_vars=True).values()],
    "text": lambda t, m: repr(m),
    "applied": lambda t, m: (seen := [], m.apply(lambda x: seen.append(type(x).__name__)))[0],
    "submodule": lambda t, m: [m.get_submodule("parts.b.0") is m.parts["b"][0], m.get_submodule("") is m],
    "parameter": lambda t, m: list(m.get_parameter("body.0.bias").shape),
    "buffer": lambda t, m: list(m.get_buffer("body.1.running_mean").shape),
    "set submodule": lambda t, m: (m.set_submodule("body.act", t.nn.Tanh()), repr(m))[1],
    "frozen": lambda t, m: [p.requires_grad for p in m.requires_grad_(False).parameters()],
    "train": lambda t, m: [x.training for x in m.eval().modules()] + [x.training for x in m.train().modules()],
    "double": lambda t, m: [str(v.dtype).removeprefix("torch.") for v in m.double().state_dict().values()],
    "half": lambda t, m: [str(v.dtype).removeprefix("torch.") for v in m.to(t.float16).state_dict().values()],
    "to cpu": lambda t, m: m.to("cpu") is m and m.cpu() is m and m.to(device="cpu", dtype=t.float64) is m,
    "deleted": lambda t, m: (delattr(m, "scale"), delattr(m, "mean"), delattr(m, "twin"), list(m.state_dict()))[3],
    "replaced": lambda t, m: (
        setattr(m, "scale", None),
        setattr(m, "body", None),
        repr(m),
        names(m.named_parameters()),
    )[2:],
    "parameter over buffer": lambda t, m: (
        delattr(m, "mean"),
        setattr(m, "mean", t.nn.Parameter(t.ones(1))),
        names(m.named_parameters()),
    )[2],
    "buffer set": lambda t, m: (setattr(m, "mean", t.ones(5)), m.state_dict()["mean"].tolist())[1],
    "buffer class": lambda t, m: (
        setattr(m, "extra", t.nn.Buffer(t.ones(1), persistent=False)),
        names(m.named_buffers()),
        list(m.state_dict()),
    )[1:],
    "copied": lambda t, m: (
        c := copy.deepcopy(m),
        c.twin is c.body[0],
        c.scale is not m.scale,
        c.scale is next(c.parameters()),
        repr(c),
    )[1:],
    "pickled": lambda t, m: list(pickle.loads(pickle.dumps(m)).state_dict()),
    "not strict": lambda t, m: [
        sorted(keys) for keys in m.load_state_dict({"scale": t.zeros(3), "x": t.ones(1)}, strict=False)
    ],
    "assigned": lambda t, m: (
        given := {**m.state_dict(), "scale": t.zeros(3)},
        str(m.load_state_dict(given, assign=True)),
        m.scale.tolist(),
        m.scale.requires_grad,
    )[1:],
    "sequential": lambda t, m: (
        s := t.nn.Sequential(t.nn.Linear(2, 2), t.nn.ReLU(), t.nn.Sigmoid()),
        len(s),
        repr(s[1:]),
        repr(s[-1]),
        s.append(t.nn.Tanh()),
        s.insert(1, t.nn.ELU()),
        s.pop(0),
        s.extend([t.nn.Identity()]),
        repr(s),
        repr(s + t.nn.Sequential(t.nn.GELU())),
        repr(t.nn.Sequential(t.nn.Tanh()) * 2),
    )[8:],
    "sequential of names": lambda t, m: repr(
        t.nn.Sequential({"a": t.nn.Tanh(), "b": t.nn.ReLU()})
        if t is gs
        else t.nn.Sequential(__import__("collections").OrderedDict(a=t.nn.Tanh(), b=t.nn.ReLU()))
    ),
    "sequential deleted": lambda t, m: (
        m.body.__delitem__(slice(0, 2)),
        m.body.__setitem__(0, t.nn.Tanh()),
        repr(m.body),
    )[2],
    "list": lambda t, m: (
        x := t.nn.ModuleList([t.nn.Tanh(), t.nn.ReLU(), t.nn.ReLU()]),
        x.insert(0, t.nn.ELU()),
        x.__setitem__(-1, t.nn.GELU()),
        repr(x),
        repr(x[1:3]),
        repr(x + t.nn.ModuleList([t.nn.Tanh()])),
        repr(x.pop(1)),
        len(x),
        repr(t.nn.ModuleList()),
    )[3:],
    "dict": lambda t, m: (
        d := m.parts,
        list(d),
        "a" in d,
        len(d),
        repr(d.pop("a")),
        d.update([("c", t.nn.ReLU())]),
        list(d.keys()),
        d.clear(),
        repr(d),
    )[1:],
    "parameter list": lambda t, m: (
        x := t.nn.ParameterList([t.ones(2), t.nn.Parameter(t.zeros(1))]),
        len(x),
        names(x.named_parameters()),
        x.append(t.ones(3)),
        [p.shape[0] for p in x],
        len(x[1:]),
        x[-1].requires_grad,
    )[1:3],
    "parameter dict": lambda t, m: (
        x := t.nn.ParameterDict({"a": t.ones(2)}),
        x.update({"b": t.zeros(1)}),
        list(x),
        names(x.named_parameters()),
        x.pop("a").tolist(),
        list(x.keys()),
        x.get("z") is None,
    )[2:],
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_modules_answer_as_in_torch(program):
    assert program(gs, net(gs)) == program(torch, net(torch))


REFUSED = [
    (lambda t, m: m.get_submodule("body.x"), AttributeError, "Sequential has no attribute `x`"),
    (lambda t, m: m.get_submodule("scale"), AttributeError, "`scale` is not an nn.Module"),
    (lambda t, m: m.get_parameter("mean"), AttributeError, "`mean` is not an nn.Parameter"),
    (lambda t, m: m.get_buffer("scale"), AttributeError, "`scale` is not a buffer"),
    (lambda t, m: m.nothing, AttributeError, "'Module' object has no attribute 'nothing'"),
    (lambda t, m: delattr(m, "nothing"), AttributeError, "nothing"),
    (lambda t, m: setattr(m, "scale", t.ones(1)), TypeError, "as parameter 'scale'"),
    (lambda t, m: setattr(m, "body", 3), TypeError, "as child module 'body'"),
    (lambda t, m: setattr(m, "mean", 3), TypeError, "as buffer 'mean'"),
    (lambda t, m: m.register_parameter("a.b", None), KeyError, "contain"),
    (lambda t, m: m.register_parameter("", None), KeyError, "be empty"),
    (lambda t, m: m.register_parameter("body", None), KeyError, "attribute 'body' already exists"),
    (lambda t, m: m.register_parameter("x", t.ones(1)), TypeError, "torch.nn.Parameter or None required"),
    (lambda t, m: m.register_buffer("x", 3), TypeError, "torch Tensor or None required"),
    (lambda t, m: m.add_module("x", 3), TypeError, "is not a Module subclass"),
    (lambda t, m: m.train(1), ValueError, "expected to be boolean"),
    (lambda t, m: m.to(t.int64), TypeError, "only accepts floating point or complex"),
    (lambda t, m: m.load_state_dict([1]), TypeError, "Expected state_dict to be dict-like"),
    (lambda t, m: m(1), NotImplementedError, 'missing the required "forward" function'),
    (lambda t, m: m.body[9], IndexError, "out of range"),
    (lambda t, m: m.body + 3, ValueError, "objects of Sequential class"),
    (lambda t, m: m.body * 0, ValueError, "Non-positive multiplication factor"),
    (lambda t, m: t.nn.ModuleList([3]), TypeError, "is not a Module subclass"),
    (lambda t, m: t.nn.ParameterList(3), TypeError, "iterable"),
    (lambda t, m: t.nn.Parameter(t.ones(1, dtype=t.int64)), RuntimeError, "floating point"),
]


@pytest.mark.parametrize(("make", "error", "message"), REFUSED)
def test_modules_refuse_as_in_torch(make, error, message):
    for t in (gs, torch):
        with pytest.raises(error, match=message):
            make(t, net(t))


def test_messages_of_a_state_that_does_not_fit_are_those_of_torch():
    found = []
    for t in (gs, torch):
        state = {**net(t).state_dict(), "other.x": t.ones(1), "scale": t.ones(2), "body.0.z": t.ones(1)}
        del state["body.1.running_mean"], state["twin.bias"]
        with pytest.raises(RuntimeError) as caught:
            net(t).load_state_dict(state)
        found.append(str(caught.value))
    assert found[0] == found[1]


def test_extra_state_goes_along():
    for t in (gs, torch):

        class Numbering(t.nn.Module):
            count = 3

            def get_extra_state(self):
                return self.count

            def set_extra_state(self, state):
                self.count = state

        holder, other = t.nn.Sequential(Numbering()), t.nn.Sequential(Numbering())
        holder[0].count = 7
        assert holder.state_dict() == {"0._extra_state": 7}
        other.load_state_dict(holder.state_dict())
        assert other[0].count == 7
        with pytest.raises(RuntimeError, match="_extra_state"):
            other.load_state_dict({})


def test_a_module_that_is_cast_keeps_its_parameters():
    layer = gs.nn.Linear(2, 2)
    optimizer = gs.optim.SGD(layer.parameters(), lr=0.1)
    layer(gs.ones(1, 2)).sum().backward()
    layer.double()
    assert layer.weight.grad.dtype == gs.float64
    before = layer.weight.tolist()
    optimizer.step()
    assert layer.weight.tolist() != before
    with pytest.raises(RuntimeError):
        layer.cuda()


def test_a_tensor_may_bear_any_name_that_torch_allows():
    class Named(gs.nn.Module):
        def __init__(self):
            super().__init__()
            self._name, self._hooks, self.hooks, self.names = "x", [1], {}, 3

        def forward(self, x):
            return x

    module = gs.nn.Sequential(Named())
    assert (module[0]._name, module[0]._hooks) == ("x", [1])
    np.testing.assert_array_equal(module(gs.ones(2)).array, [1, 1])


def test_parameters_print_as_in_torch_and_training_makes_none():
    for t in (gs, torch):
        assert repr(t.nn.Parameter(t.ones(2))) == "Parameter containing:\ntensor([1., 1.], requires_grad=True)"
        plain = t.ones(1, requires_grad=True)
        t.optim.SGD([plain], lr=1.0)
        assert not isinstance(plain, t.nn.Parameter)
        assert isinstance(t.nn.Parameter(plain), t.nn.Parameter)
