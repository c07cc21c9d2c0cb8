"""Programs with tensors unlike others: each is run bare and recorded, and nothing of them may end a recording."""

# ruff: noqa: E731

from __future__ import annotations

import contextlib
import copy
import io
import pickle
import warnings
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest
import torch
import torch.autograd.forward_ad as forward_ad
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.func import functional_call, functionalize, grad, hessian, jacfwd, jacrev, jvp, linearize, vjp, vmap
from torch.fx import symbolic_trace
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.experimental.symbolic_shapes import ShapeEnv
from torch.masked import masked_tensor
from torch.nn import functional
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map
from torch.utils.flop_counter import FlopCounterMode

SPECIAL: Final[dict[str, Callable[[], None]]] = {}


def special(program: Callable[[], None]) -> Callable[[], None]:
    SPECIAL[program.__name__] = program
    return program


def leaf(*shape: int) -> torch.Tensor:
    return torch.ones(*shape or (3,)).requires_grad_()


def fails(call: Callable[[], Any], *words: str) -> None:
    """The program's own error, and no other."""
    with pytest.raises((RuntimeError, TypeError, ValueError, AssertionError)) as caught:
        call()
    text = str(caught.value)
    assert all(word in text for word in words)
    assert "graphscope" not in text


@special
def zeros_that_are_not_there() -> None:
    (leaf() * torch._efficientzerotensor((3,))).sum().backward()
    x = leaf()
    (first,) = torch.autograd.grad(x.abs().sum(), x, create_graph=True)
    torch.autograd.grad((first * first).sum(), x, allow_unused=True)


@special
def roots_without_gradients() -> None:
    fails(lambda: torch.ones(3).sum().backward(), "does not require grad")
    fails(lambda: torch.autograd.backward([leaf().sum(), torch.ones(())]), "does not require grad")
    fails(lambda: torch.autograd.grad(leaf().sum(), torch.ones(3)))
    fails(lambda: leaf().backward(), "scalar")


@special
def views_made_without_gradients() -> None:
    table = nn.Embedding(5, 3)
    with torch.no_grad():
        row = table.weight[0]
        nn.init.zeros_(row)
    fails(lambda: row.grad_fn, "no_grad mode")
    table(torch.tensor([0, 1])).sum().backward()


@special
def lazy_layers() -> None:
    model = nn.Sequential(nn.LazyLinear(3), nn.LazyBatchNorm1d(), nn.ReLU())
    model(torch.ones(4, 5)).sum().backward()
    nn.LazyConv2d(4, 3)(torch.ones(2, 3, 8, 8)).sum().backward()
    parameter = nn.parameter.UninitializedParameter()
    fails(lambda: parameter + 1)
    parameter.materialize((3,))
    nn.init.zeros_(parameter)
    (parameter * 2).sum().backward()


@special
def fake_tensors() -> None:
    with FakeTensorMode() as mode:
        (leaf() * 2).sum().backward()
        mode.from_tensor(torch.ones(2)).add_(1)
        nn.Linear(3, 3)(torch.ones(2, 3)).sum().backward()
    outside = mode.from_tensor(torch.ones(3, requires_grad=True))
    (outside + 1).sum().backward()


@special
def symbolic_shapes() -> None:
    mode = FakeTensorMode(shape_env=ShapeEnv())
    weight = mode.from_tensor(torch.ones(3, 4, requires_grad=True), static_shapes=False)
    with mode:
        (weight * 2).sum().backward()
        weight.view(weight.shape[0] * weight.shape[1]).split(2)
    make_fx(lambda x: (x.view(-1) * 2).sum(), tracing_mode="symbolic")(torch.ones(3, 4))


@special
def transforms() -> None:
    f = lambda x: (x * x).sum()
    x = torch.ones(3)
    grad(f)(x)
    grad(grad(lambda x: x**3))(torch.ones(()))
    grad(lambda x: torch.stack(torch.unbind(x.clone().mul_(2))).sum())(x)
    vjp(f, x)[1](torch.ones(()))
    jacrev(torch.sin)(x)
    functionalize(lambda x: x.clone().add_(1))(x)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what torch itself has not mended
        jvp(f, (x,), (x,))
        linearize(f, x)[1](x)
        jacfwd(torch.sin)(x)
        hessian(f)(x)


@special
def mapped() -> None:
    batch = torch.ones(4, 4)
    for each in (
        lambda x: x.sin().sum(), lambda x: x.clone().add_(1), lambda x: x.chunk(2), lambda x: x.sort(),
        lambda x: torch.cat([x, x]), lambda x: torch.where(x > 0, x, 0), grad(lambda x: (x * x).sum()),
    ):  # fmt: skip
        vmap(each)(batch)
    vmap(lambda x: torch.randn(4) + x, randomness="different")(batch)
    model = nn.Linear(4, 2)
    one = lambda parameters, x: functional_call(model, parameters, x).sum()
    vmap(grad(one), (None, 0))(dict(model.named_parameters()), batch)
    inner = leaf(4, 3)
    vmap(lambda x: (x * x).sum())(inner).sum().backward()
    torch.autograd.functional.hessian(lambda x: (x**3).sum(), torch.ones(3), vectorize=True)
    y = leaf()
    torch.autograd.grad(y * 2, y, grad_outputs=torch.eye(3), is_grads_batched=True)


@special
def forward_mode() -> None:
    with forward_ad.dual_level(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what torch itself has not mended
        forward_ad.unpack_dual(forward_ad.make_dual(torch.ones(3), torch.ones(3)).sin() * 2)
        (forward_ad.make_dual(leaf(), torch.ones(3)) * 2).sum().backward()


@special
def sparse() -> None:
    square = torch.eye(3).to_sparse().requires_grad_()
    torch.sparse.mm(square, leaf(3, 3)).sum().backward()
    square.coalesce().values()
    torch.sparse.softmax(square + square, 1).t()
    other = torch.eye(3).to_sparse()
    other.add_(other).mul_(2)
    leaf(2, 2).to_sparse().to_dense().sum().backward()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it is in beta
        for name in ("to_sparse_csr", "to_sparse_csc"):
            rows = getattr(torch.eye(4), name)()
            (rows @ torch.ones(4, 2), rows.values(), rows * 2, rows.to_dense())
        torch.eye(4).to_sparse_bsr((2, 2)).to_dense()
        (torch.eye(4).to_sparse_csr().requires_grad_() @ torch.ones(4, 2)).sum().backward()


@special
def sparse_gradients() -> None:
    table = nn.Embedding(5, 3, sparse=True)
    optimizer = torch.optim.SparseAdam(table.parameters())
    for _ in range(2):
        optimizer.zero_grad()
        table(torch.tensor([1, 1, 2])).sum().backward()
        optimizer.step()
    nn.EmbeddingBag(5, 3, sparse=True)(torch.tensor([[1, 1, 2]])).sum().backward()


@special
def quantized() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it is about to leave torch
        numbers = torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.quint8)
        (numbers.dequantize(), numbers.int_repr(), numbers.clone(), numbers[0], numbers.view(3, 1), torch.relu(numbers))
        torch.quantize_per_channel(torch.ones(2, 2), torch.ones(2), torch.zeros(2), 0, torch.qint8).dequantize()
    torch.fake_quantize_per_tensor_affine(leaf(), 0.1, 0, 0, 255).sum().backward()


@special
def nested() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it is a prototype
        whole = torch.nested.nested_tensor([torch.ones(2, 3), torch.ones(1, 3)], requires_grad=True)
        functional.linear(whole, leaf(4, 3)).to_padded_tensor(0.0).sum().backward()
        (whole * 2).unbind()


@special
def jagged() -> None:
    whole = torch.nested.nested_tensor([torch.ones(2, 3), torch.ones(1, 3)], layout=torch.jagged, requires_grad=True)
    (whole @ leaf(3, 2)).values().sum().backward()
    (whole.unbind(), whole.to_padded_tensor(0.0), whole.offsets(), whole.sum(dim=-1), whole.clone().detach())


@special
def conjugated() -> None:
    z = torch.ones(3, dtype=torch.complex64, requires_grad=True)
    y = z.conj()
    (y * z).sum().abs().backward()
    (y.imag + 1, y.resolve_conj(), torch.view_as_real(z).sum().backward())
    z.detach().conj().add_(1)


@special
def classes_of_the_program() -> None:
    class Named(torch.Tensor):
        pass

    named = torch.ones(3).as_subclass(Named).requires_grad_()
    (named * 2).sum().backward()
    (named + torch.ones(3)).add_(1)

    class Holder:
        def __init__(self, held: torch.Tensor) -> None:
            self.held = held

        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return func(*[each.held if isinstance(each, Holder) else each for each in args], **(kwargs or {}))

    torch.add(Holder(leaf()), 1).sum().backward()


class Wrapped(torch.Tensor):
    """A tensor whose elements are those of another one."""

    @staticmethod
    def __new__(cls, held: torch.Tensor, requires_grad: bool = False) -> Wrapped:  # noqa: PYI034
        return torch.Tensor._make_wrapper_subclass(  # type: ignore[no-any-return]
            cls, held.shape, dtype=held.dtype, requires_grad=requires_grad
        )

    def __init__(self, held: torch.Tensor, requires_grad: bool = False) -> None:
        self.held = held

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        inner = lambda value: value.held if isinstance(value, Wrapped) else value
        result = func(*tree_map(inner, args), **tree_map(inner, kwargs or {}))
        return tree_map(lambda value: Wrapped(value) if isinstance(value, torch.Tensor) else value, result)

    __torch_function__ = torch._C._disabled_torch_function_impl


@special
def wrapped() -> None:
    tensor = Wrapped(torch.ones(3), True)
    (tensor * 2).sum().backward()
    tensor.detach()[0:2].mul_(3)
    parameter = nn.Parameter(Wrapped(torch.ones(3)))
    optimizer = torch.optim.SGD([parameter], 0.1)
    for _ in range(2):
        (parameter * 2).sum().backward()
        optimizer.step()
        optimizer.zero_grad()


class Mute(torch.Tensor):
    """A tensor that answers nothing."""

    @staticmethod
    def __new__(cls) -> Mute:  # noqa: PYI034
        return torch.Tensor._make_wrapper_subclass(cls, (3,), requires_grad=True)  # type: ignore[no-any-return]

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return Mute()

    __torch_function__ = torch._C._disabled_torch_function_impl

    def _refuse(self) -> Any:
        raise LookupError("ask somebody else")

    dtype = shape = requires_grad = layout = property(_refuse)  # type: ignore[assignment]


@special
def mute() -> None:
    tensor = Mute()
    torch.mul(tensor * 2, tensor)


@special
def masked() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it is a prototype
        tensor = masked_tensor(torch.ones(3), torch.tensor([True, False, True]), requires_grad=True)
        (tensor * 2).sum().backward()


@special
def meta() -> None:
    model = nn.Linear(3, 4, device="meta")
    model(torch.ones(2, 3, device="meta")).sum().backward()
    torch.optim.Adam(model.parameters()).step()
    with torch.device("meta"):
        nn.Conv2d(1, 2, 3)(torch.ones(1, 1, 5, 5)).sum().backward()
    model.to_empty(device="cpu")
    torch.ones(4, device="meta").add_(1).chunk(2)


@special
def dtypes() -> None:
    for name in (
        "float8_e4m3fn", "float8_e5m2", "uint16", "uint32", "uint64", "complex32", "bfloat16", "float16", "bool",
        "int1", "uint4", "bits8", "float4_e2m1fn_x2",
    ):  # fmt: skip
        dtype = getattr(torch, name, None)
        if dtype is not None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # halves of complex numbers are an experiment
                numbers = torch.empty(4, dtype=dtype)
            (numbers.view(2, 2).t(), numbers[0], numbers[:0], numbers.chunk(2), torch.empty((), dtype=dtype))
    leaf().to(torch.float8_e4m3fn).float().sum().backward()


@special
def shapes() -> None:
    (torch.empty(0).sum(), torch.empty(0, 2**40), torch.ones((1,) * 60), torch.ones((1,) * 20).squeeze())
    (torch.ones(()).expand(2**40).chunk(2), torch.ones(())[None].expand(2**33, 2**28))
    leaf(0).sum().backward()
    leaf(1).expand(2**16).sum().backward()


@special
def views_into_storages_given_back() -> None:
    whole = torch.arange(1e6)
    view, weight = whole[500_000:], nn.Parameter(whole)[600_000:]
    whole.untyped_storage().resize_(0)
    for _ in range(3):
        (view.view(1000, 500), weight.detach(), weight.view_as(weight))
    whole.untyped_storage().resize_(4_000_000)
    whole.fill_(1)
    view.sin()


@special
def storages() -> None:
    lent = nn.Parameter(torch.ones(4))
    product = lent * 2
    lent.data.untyped_storage().resize_(0)
    lent.detach()
    lent.untyped_storage().resize_(16)
    lent.data.fill_(1)
    product.sum().backward()
    numbers = torch.arange(12.0).view(3, 4)
    (numbers.t(), numbers.sum(), numbers[:, 1])
    numbers.untyped_storage().resize_(96)  # what was looked at can still grow
    lent.data = torch.empty(0)
    torch.ones(3).set_(torch.ones(5)).resize_(2)
    array = np.ones(3)
    shared = torch.from_numpy(array)
    array[0] = (shared + 1)[0]
    (shared + 1, torch.ones(3).share_memory_() + 1, torch.from_dlpack(np.ones(3)) * 2)


@special
def inference() -> None:
    with torch.inference_mode():
        x = torch.ones(3)
        (x * 2).add_(1)[0:1].mul_(2)
        nn.Linear(3, 3)(x)
    (x * 2, x.clone())
    fails(lambda: leaf() * x)


@special
def compiled_elsewhere() -> None:
    x = torch.ones(1, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch would rather be asked for an export
        torch.jit.trace(nn.Linear(3, 2), x)(x).sum().backward()
        torch.jit.script(nn.Sequential(nn.Linear(3, 2), nn.ReLU()))(x).sum().backward()
    symbolic_trace(nn.Sequential(nn.Linear(3, 2), nn.ReLU()))(x).sum().backward()

    def step(x: torch.Tensor) -> Any:
        x = x.detach().requires_grad_()
        return torch.autograd.grad((x * x).sum(), x)

    make_fx(step)(torch.ones(3))
    make_fx(step, tracing_mode="fake")(torch.ones(3))


@special
def modes() -> None:
    with FlopCounterMode(display=False):
        nn.Linear(3, 2)(torch.ones(1, 3)).sum().backward()
    with torch.autograd.graph.saved_tensors_hooks(lambda x: x * 1, lambda x: x):
        leaf().sin().sum().backward()
    with torch.autograd.graph.save_on_cpu():
        leaf().sin().sum().backward()
    with torch.autograd.graph.allow_mutation_on_saved_tensors():
        y = leaf().clone()
        z = y.sin()
        y.add_(1)
        z.sum().backward()
    edge = torch.autograd.graph.get_gradient_edge((leaf() * 2).sum())
    torch.autograd.backward(edge, torch.ones(()))


@special
def gradients_that_are_none() -> None:
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, a: Any, b: Any) -> Any:
            ctx.set_materialize_grads(False)
            return a * 2, b * 2, torch.ones(3, dtype=torch.int64), None, "text"

        @staticmethod
        def backward(ctx: Any, first: Any, second: Any, *_: Any) -> Any:
            return first, second

    Twice.apply(leaf(), leaf())[0].sum().backward()
    torch.unbind(leaf(2, 2))[0].sum().backward()
    leaf().to(torch.complex64).real.sum().backward()
    (leaf() * 2).backward(torch.ones(1).expand(3))


@special
def copies() -> None:
    copy.deepcopy(nn.Linear(2, 2))
    pickle.loads(pickle.dumps(torch.ones(3)))
    file = io.BytesIO()
    torch.save(torch.ones(3), file)
    file.seek(0)
    torch.load(file, weights_only=True).add_(1)
    (np.float32(2) * torch.ones(3), torch.cat((torch.ones(1),) * 300))


@special
def branches() -> None:
    x = leaf()
    torch.cond(x.sum() > 0, torch.sin, torch.cos, (x,)).sum().backward()
    torch.ops.higher_order.cond(torch.tensor(True), lambda x: (x.sin(),), lambda x: (x.cos(),), (torch.ones(3),))


class Seen(TorchDispatchMode):
    """Counts what torch runs."""

    def __init__(self) -> None:
        super().__init__()
        self.ops: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.ops.append(str(func))
        return func(*args, **(kwargs or {}))


class Idle(TorchDispatchMode):
    """Runs what it sees."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


def runs_alone(name: str, beneath: Any = None) -> bool:
    """Whether this version of torch runs a program that is not recorded, beneath some mode."""
    try:
        with beneath or contextlib.nullcontext():
            SPECIAL[name]()
    except Exception:
        return False
    return True
