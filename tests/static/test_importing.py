"""Models of torch and ONNX as graphs: torch's own outputs and gradients, node by node; errors name what is missing."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphscope as gs
import graphscope.static as tf
from graphscope.errors import StaticError
from graphscope.static.graphs.symbols import Symbol
from graphscope.static.importing import arrays_of, load_model, recorded_run

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch


class Block(torch.nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.conv = torch.nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm = torch.nn.BatchNorm2d(channels)

    def forward(self, x: Any) -> Any:
        return torch.relu(self.norm(self.conv(x)) + x)


class Residual(torch.nn.Module):
    """As the networks of torchvision are: a stem, blocks with a way around them, a head."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = torch.nn.Conv2d(3, 8, 3, stride=2, padding=1)
        self.blocks = torch.nn.Sequential(Block(8), Block(8))
        self.head = torch.nn.Linear(8, 5)

    def forward(self, x: Any) -> Any:
        h = torch.nn.functional.max_pool2d(torch.relu(self.stem(x)), 2)
        h = torch.nn.functional.adaptive_avg_pool2d(self.blocks(h), 1)
        return self.head(torch.flatten(h, 1))


class Encoder(torch.nn.Module):
    """An embedding, attention, and a feed-forward part."""

    def __init__(self) -> None:
        super().__init__()
        self.words = torch.nn.Embedding(11, 8)
        self.qkv = torch.nn.Linear(8, 24)
        self.norm = torch.nn.LayerNorm(8)
        self.feed = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.GELU(), torch.nn.Linear(16, 8))

    def forward(self, words: Any) -> Any:
        x = self.words(words)
        q, k, v = self.qkv(self.norm(x)).chunk(3, dim=-1)
        x = x + torch.softmax(q @ k.transpose(-1, -2) / 8**0.5, dim=-1) @ v
        return (x + self.feed(x)).mean(dim=1)


def made(kind: type[Any]) -> tuple[Any, Any]:
    torch.manual_seed(3)
    module = kind().eval()
    for part in module.modules():
        if isinstance(part, torch.nn.BatchNorm2d):
            part.running_mean.normal_()
            part.running_var.uniform_(0.5, 2.0)
    x = torch.randn(2, 3, 16, 16) if kind is Residual else torch.randint(0, 11, (2, 6))
    return module, x


def saved(module: Any, x: Any, file: Path) -> Path:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if file.suffix == ".pt2":
            torch.export.save(torch.export.export(module, (x,)), str(file))
        elif file.suffix == ".pt":
            torch.jit.trace(module, x).save(str(file))
        else:
            pytest.importorskip("onnx")
            torch.onnx.export(module, (x,), str(file), dynamo=False)
    return file


def shapes(x: Any, file: Path) -> dict[str, Any]:
    return {"x": tuple(x.shape), "words": x.numpy()} if file.suffix == ".pt" else {}


QUICK = [(Residual, ".pt2"), (Encoder, ".pt")]
OTHERS = [(Residual, ".pt"), (Residual, ".onnx"), (Encoder, ".pt2"), (Encoder, ".onnx")]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "suffix"), [*QUICK, *(pytest.param(*each, marks=pytest.mark.slow) for each in OTHERS)]
)
def test_outputs_and_gradients_are_torchs(kind: type[Any], suffix: str, tmp_path: Path) -> None:
    module, x = made(kind)
    file = saved(module, x, tmp_path / f"model{suffix}")
    model = load_model(file, shapes(x, file))
    expected = module(x)
    (found,) = model.run(x.numpy())
    np.testing.assert_allclose(found, expected.detach().numpy(), rtol=1e-4, atol=1e-5)
    expected.square().sum().backward()
    gradients = {name: each.grad.numpy() for name, each in module.named_parameters()}
    with model.graph.as_default():
        names = [name for name in gradients if name in model.parameters]
        slopes = tf.gradients(tf.reduce_sum(tf.square(model.outputs[0])), [model.parameters[name] for name in names])
    assert suffix == ".onnx" or len(names) == len(gradients)
    assert names
    with tf.Session(graph=model.graph) as session:
        for name, slope in zip(names, session.run(slopes, {model.inputs[0]: x.numpy()}), strict=True):
            np.testing.assert_allclose(slope, gradients[name], rtol=1e-3, atol=1e-4, err_msg=name)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [Residual, Encoder])
def test_each_node_gives_what_torch_gives_there(kind: type[Any], tmp_path: Path) -> None:
    module, x = made(kind)
    program = torch.export.export(module, (x,))
    model = load_model(saved(module, x, tmp_path / "model.pt2"))
    seen: dict[str, Any] = {}

    class Watch(torch.fx.Interpreter):
        def run_node(self, n: Any) -> Any:
            seen[n.name] = super().run_node(n)
            return seen[n.name]

    with torch.no_grad():
        Watch(program.graph_module).run(*[*program.state_dict.values()][:0], *_flat(program, x))
    names = [name for name, value in seen.items() if isinstance(model.named.get(name), Symbol)]
    assert len(names) > 10
    with tf.Session(graph=model.graph) as session:
        found = session.run([model.named[name] for name in names], {model.inputs[0]: x.numpy()})
    for name, value in zip(names, found, strict=True):
        np.testing.assert_allclose(value, seen[name].detach().numpy(), rtol=1e-4, atol=1e-5, err_msg=name)


def _flat(program: Any, x: Any) -> list[Any]:
    signature = program.graph_signature
    return [x if spec.kind.name == "USER_INPUT" else program.state_dict[spec.target] for spec in signature.input_specs]


def test_scripted_control_flow_becomes_nodes(tmp_path: Path) -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        y = x * 2
        if bool(x.sum() > 0):
            y = y + 1
        else:
            y = y - 1
        n = 0
        while bool(y.sum() < 100):
            y = y * 1.5
            n += 1
        return y

    file = tmp_path / "scripted.pt"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module = torch.jit.script(program)
        module.save(str(file))
    model = load_model(file, {"x": (3,)})
    assert {"cond", "while"} <= {node.op for node in model.graph.nodes}
    for x in (np.float32([1, 2, 3]), np.float32([1, 2, 30])):
        np.testing.assert_allclose(model.run(x)[0], module(torch.tensor(x)).numpy(), rtol=1e-5)


@pytest.mark.slow
def test_a_model_is_recorded_with_its_names_and_lines(tmp_path: Path) -> None:
    module, x = made(Residual)
    log = recorded_run(saved(module, x, tmp_path / "model.pt2"), {"x": x.numpy()})
    whole = log.graph.at(log.end - 1)
    (conv,) = whole.select("op:conv2d and scope:blocks.0.conv and forward")
    assert (conv.op, conv.scope) == ("conv2d", "blocks.0.conv")
    assert conv.source_line == "return torch.relu(self.norm(self.conv(x)) + x)"
    assert [node.name for node in whole.select("name:stem/weight")] == ["stem/weight"]
    assert gs.export(log, tmp_path / "model.dot") is not None or (tmp_path / "model.dot").is_file()


@pytest.mark.slow
def test_errors_say_what_is_missing(tmp_path: Path) -> None:
    class Odd(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return torch.special.bessel_j0(x)

    file = saved(Odd(), torch.ones(2), tmp_path / "odd.pt2")
    with pytest.raises(StaticError, match="special_bessel_j0 of the program: graphscope has no op for"):
        load_model(file)
    with pytest.raises(StaticError, match=r"there is no file .*none\.onnx"):
        load_model(tmp_path / "none.onnx")
    with pytest.raises(StaticError, match="is no model that can be read"):
        load_model(tmp_path / "model.h5")
    broken = tmp_path / "broken.pt"
    broken.write_bytes(b"nothing")
    with pytest.raises(StaticError, match="is no TorchScript"):
        load_model(broken)
    np.save(tmp_path / "one.npy", np.zeros(3))
    for name in ("broken.pt", "one.npy"):
        with pytest.raises(StaticError, match="holds no arrays by name"):
            arrays_of(tmp_path / name)
    module, x = made(Residual)
    file = saved(module, x, tmp_path / "model.pt2")
    with pytest.raises(StaticError, match="has no input 'images'"):
        recorded_run(file, {"images": x.numpy()})


def test_sizes_that_an_onnx_model_computes_are_known_when_it_is_read(tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx")
    number = onnx.TensorProto.INT64

    def constant(name: str, values: list[int], *dims: int) -> Any:
        return onnx.helper.make_tensor(name, number, dims, values)

    def node(op: str, given: list[str], name: str, **attributes: Any) -> Any:
        return onnx.helper.make_node(op, given, [name], **attributes)

    nodes = [
        node("Shape", ["x"], "shape"),
        node("Gather", ["shape", "zero"], "rows", axis=0),
        node("Gather", ["shape", "one"], "columns", axis=0),
        node("Div", ["columns", "minus_two"], "half"),
        node("Neg", ["half"], "width"),
        node("Mul", ["rows", "two"], "height"),
        node("Unsqueeze", ["height", "axis"], "height_1"),
        node("Unsqueeze", ["width", "axis"], "width_1"),
        node("Concat", ["height_1", "width_1", "rest"], "wanted", axis=0),
        node("Reshape", ["x", "wanted"], "y"),
    ]
    given = [constant("zero", [0]), constant("one", [1]), constant("two", [2]), constant("minus_two", [-2])]
    given += [constant("axis", [0], 1), constant("rest", [-1], 1)]
    x = onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [4, 7, 6])
    y = onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, None)
    file = tmp_path / "sizes.onnx"
    onnx.save(onnx.helper.make_model(onnx.helper.make_graph(nodes, "sizes", [x], [y], given)), str(file))
    array = np.arange(168, dtype=np.float32).reshape(4, 7, 6)
    (found,) = load_model(file).run(array)
    np.testing.assert_array_equal(found, array.reshape(8, 3, 7))
