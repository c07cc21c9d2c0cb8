"""Two tensors that differ by rounding are the same; a small real difference parts them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphscope as gs
from graphscope.compare.errors import allowed, saved
from graphscope.compare.rounding import Allowed, Deviation, agree, deviation, distance, statistics_agree
from graphscope.eventlog.values import summarize

torch = pytest.importorskip("torch")

F = torch.nn.functional
pytestmark = pytest.mark.torch


def _random(*shape: int, seed: int = 0) -> Any:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def _record(call: Callable[[], Any], op: str) -> Any:
    with gs.record(values="full", cap=1 << 26) as log:
        call()
    return [node for node in log.graph.nodes if node.kind == "op" and node.op == op][-1]


def _array(value: Any) -> np.ndarray:
    wide = value.float() if value.dtype == torch.bfloat16 else value
    return wide.detach().contiguous().numpy()


def _same(op: str, call: Callable[[], Any], other: Any, *dtypes: str) -> bool:
    """Whether a result of another way to compute the same agrees with what the op makes of equal inputs."""
    node = _record(call, op)
    return agree(node.value, _array(other), allowed(node, (), *dtypes))


# How far apart --------------------------------------------------------------------------------------------------------


def test_distance_tells_where_and_how_far() -> None:
    """The largest difference, its place and both elements; NaN is equal to NaN."""
    a = np.array([[1.0, np.nan], [2.0, -4.0]], np.float32)
    b = np.array([[1.0, np.nan], [2.0, np.nextafter(np.float32(-4), np.float32(0))]], np.float32)
    found = distance(a, b)
    assert found is not None
    assert (found.elements, found.different, found.index, found.values[0]) == (4, 1, (1, 1), -4.0)
    assert found.ulps == 0.5  # below 4 the numbers lie twice as close


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_the_next_number_is_one_unit_of_the_last_place_away(dtype: Any) -> None:
    """Of each dtype, bfloat16 among them, which comes as float32."""
    one = torch.tensor([1.0], dtype=dtype)
    other = torch.nextafter(one, torch.tensor([2.0], dtype=dtype))
    found = distance(_array(one), _array(other), str(dtype).removeprefix("torch."))
    assert found is not None
    assert found.ulps == 1.0


def test_units_of_the_coarser_dtype_count() -> None:
    """What float16 can't hold is no unit of it."""
    a = np.array([1 / 3], np.float32)
    found = distance(a, a.astype(np.float16))
    assert found is not None
    assert 0 < found.ulps <= 0.5


@pytest.mark.parametrize(
    ("a", "b", "different", "largest"),
    [
        (np.array([True, False]), np.array([True, True]), 1, 1.0),
        (np.array([1, 5]), np.array([1, 2]), 1, 3.0),
        (np.array([3 + 4j]), np.array([3 + 3j]), 1, 1.0),
        (np.array([np.inf, 1.0]), np.array([np.inf, 1.0]), 0, 0.0),
        (np.array([np.nan, 1.0]), np.array([2.0, 1.0]), 1, np.inf),
        (np.array([1.0, 2.0]), np.array([[1.0], [2.5]]), 1, 0.5),
    ],
)
def test_distance_of_any_kind(a: np.ndarray, b: np.ndarray, different: int, largest: float) -> None:
    """Booleans, integers, complex numbers, infinities, other shapes of as many elements."""
    found = distance(a, b)
    assert found is not None
    assert (found.different, found.absolute) == (different, largest)


def test_nothing_is_told_of_unlike_sizes() -> None:
    """Nor of what has no elements."""
    assert distance(np.ones(2), np.ones(3)) is None
    assert distance(np.ones(0), np.ones(0)) is None
    assert deviation(np.ones(2), np.ones(3)) is None
    assert not agree(np.ones(2), np.ones(3), Allowed(1.0))


@given(
    st.lists(st.floats(-1e6, 1e6, width=32, allow_subnormal=False), min_size=1, max_size=300),
    st.lists(st.floats(-(2.0**-10), 2.0**-10, width=32, allow_subnormal=False), min_size=1, max_size=300),
)
def test_deviation_is_what_float64_says(values: list[float], errors: list[float]) -> None:
    """Size, spread and largest difference, whatever the number of elements."""
    a = np.array(values, np.float32)
    b = a + np.resize(np.array(errors, np.float32), a.shape)
    found = deviation(a, b)
    apart = b.astype(np.float64) - a
    assert found is not None
    assert found.largest == pytest.approx(np.abs(apart).max(), rel=1e-6)
    assert found.spread == pytest.approx(math.sqrt(np.square(apart).mean()), rel=1e-6)
    assert found.size == pytest.approx(math.sqrt(np.square(a, dtype=np.float64).mean()), rel=1e-6)


def test_exact_is_bit_by_bit() -> None:
    """One unit of the last place parts two tensors that tolerance would call the same."""
    a = np.ones(3, np.float32)
    b = np.nextafter(a, np.float32(2))
    exactly = Allowed(slope=0.0)
    assert agree(a, a.copy(), exactly)
    assert not agree(a, b, exactly)
    assert agree(a, b, Allowed(0.0, 1e-6))
    assert agree(np.array([np.nan, np.inf]), np.array([np.nan, np.inf]), exactly)
    assert not agree(np.array([np.nan, np.inf]), np.array([np.nan, -np.inf]), Allowed(1.0, 1.0))


# Rounding agrees ------------------------------------------------------------------------------------------------------

SHAPES = st.tuples(st.integers(1, 40), st.integers(1, 700))


@pytest.mark.slow
@settings(max_examples=25)
@given(SHAPES, st.floats(1e-3, 1e3), st.floats(-5, 5), st.integers(0, 1000))
def test_layer_norm_written_out_agrees(shape: tuple[int, int], scale: float, shift: float, seed: int) -> None:
    """In float64, with one pass over the squares, and summed one after the other."""
    x = (_random(*shape, seed=seed) + shift) * scale
    weight, bias = _random(shape[1], seed=1), _random(shape[1], seed=2)
    node = _record(lambda: F.layer_norm(x, shape[1:], weight, bias), "layer_norm")
    mean = x.mean(-1, keepdim=True)
    ways = [
        F.layer_norm(x.double(), shape[1:], weight.double(), bias.double()).float(),
        (x - mean) / torch.sqrt((x - mean).pow(2).mean(-1, keepdim=True) + 1e-5) * weight + bias,
        (x - mean) * torch.rsqrt(x.var(-1, unbiased=False, keepdim=True) + 1e-5) * weight + bias,
        (x - mean) / torch.sqrt(((x - mean) ** 2).cumsum(-1)[:, -1:] / shape[1] + 1e-5) * weight + bias,
    ]
    assert [agree(node.value, _array(each), allowed(node, ())) for each in ways] == [True] * len(ways)


@pytest.mark.slow
@settings(max_examples=25)
@given(st.integers(1, 60), st.integers(1, 3000), st.integers(1, 60), st.booleans(), st.integers(0, 1000))
def test_a_product_in_any_order_agrees(rows: int, terms: int, columns: int, positive: bool, seed: int) -> None:
    """Summed in float64, backwards, in chunks, one after the other; of mixed signs and of one sign."""
    x, w = _random(rows, terms, seed=seed), _random(columns, terms, seed=seed + 1)
    x, w = (x.abs(), w.abs()) if positive else (x, w)
    node = _record(lambda: F.linear(x, w), "linear")
    chunks = torch.zeros(rows, columns)
    for first in range(0, terms, 7):
        chunks = chunks + x[:, first : first + 7] @ w[:, first : first + 7].T
    ways = [(x.double() @ w.double().T).float(), x.flip(1) @ w.flip(1).T, chunks, (w @ x.T).T]
    assert [agree(node.value, _array(each), allowed(node, ())) for each in ways] == [True] * len(ways)


@pytest.mark.slow
@settings(max_examples=25)
@given(st.integers(1, 100000), st.floats(-3, 3), st.integers(0, 1000))
def test_sums_in_any_order_agree(count: int, shift: float, seed: int) -> None:
    """One after the other, in float64, backwards."""
    x = _random(count, seed=seed) + shift
    one_after_the_other = np.add.accumulate(x.numpy())[-1]
    for op, scale in (("sum", 1), ("mean", count)):
        node = _record(lambda op=op: getattr(x, op)(), op)
        for way in (one_after_the_other / scale, np.sum(x.numpy(), dtype=np.float64) / scale):
            assert agree(node.value, np.float32(way), allowed(node, ()))


@pytest.mark.slow
@settings(max_examples=20)
@given(st.integers(1, 30), st.integers(1, 300), st.sampled_from([0.1, 1.0, 100.0, 1e4]), st.integers(0, 1000))
def test_softmax_of_large_inputs_agrees(rows: int, width: int, scale: float, seed: int) -> None:
    """Against float64, and written out."""
    x = _random(rows, width, seed=seed) * scale
    written = (x - x.amax(-1, keepdim=True)).exp()
    written = written / written.sum(-1, keepdim=True)
    assert _same("softmax", lambda: torch.softmax(x, -1), torch.softmax(x.double(), -1).float())
    assert _same("softmax", lambda: torch.softmax(x, -1), written)
    assert _same("log_softmax", lambda: F.log_softmax(x, -1), F.log_softmax(x.double(), -1).float())
    assert _same("log_softmax", lambda: F.log_softmax(x, -1), x - x.logsumexp(-1, keepdim=True))


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_agrees_with_float32(dtype: Any) -> None:
    """As far as the coarser dtype explains; float32 alone does not explain it."""
    x, w, b = (_random(*shape, seed=place).to(dtype) for place, shape in enumerate([(64, 96), (32, 96), (32,)]))
    name = str(dtype).removeprefix("torch.")
    for op, call in {
        "linear": lambda *t: F.linear(*t),
        "layer_norm": lambda x, *_: F.layer_norm(x, (96,)),
        "softmax": lambda x, *_: torch.softmax(x, -1),
        "gelu": lambda x, *_: F.gelu(x),
        "mul": lambda x, *_: x * x,
        "sum": lambda x, *_: x.sum(-1),
    }.items():
        node = _record(lambda call=call: call(x.float(), w.float(), b.float()), op)
        other = _array(call(x, w, b))
        assert agree(node.value, other, allowed(node, (), name, "float32")), op
        assert not agree(node.value, other, allowed(node, (), "float32")), op


def test_convolutions_by_unfolding_agree() -> None:
    """Windows as columns, and one product of matrices."""
    x, w, b = _random(4, 16, 20, 20), _random(24, 16, 3, 3, seed=1), _random(24, seed=2)
    columns = F.unfold(x, 3, padding=1)
    written = (w.reshape(24, -1) @ columns).reshape(4, 24, 20, 20) + b[:, None, None]
    assert _same("conv2d", lambda: F.conv2d(x, w, b, padding=1), written)
    last = F.conv2d(x.contiguous(memory_format=torch.channels_last), w, b, padding=1)
    assert _same("conv2d", lambda: F.conv2d(x, w, b, padding=1), last)


@pytest.mark.parametrize("scale", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("causal", [False, True])
def test_attention_written_out_agrees(scale: float, causal: bool) -> None:
    """Fused against products, mask and softmax; with the scale ahead of the product, too."""
    q, k, v = (_random(2, 4, 33, 64, seed=seed) * scale for seed in range(3))
    mask = torch.ones(33, 33).tril().bool() if causal else torch.ones(33, 33).bool()
    written = ((q @ k.mT) / 8).masked_fill(~mask, -math.inf).softmax(-1) @ v
    ahead = ((q / 8) @ k.mT).masked_fill(~mask, -1e30).softmax(-1) @ v
    for other in (written, ahead):
        call = lambda: F.scaled_dot_product_attention(q, k, v, is_causal=causal)  # noqa: E731
        assert _same("scaled_dot_product_attention", call, other)


@pytest.mark.parametrize("kind", ["batch_norm", "group_norm", "instance_norm", "rms_norm"])
def test_norms_in_float64_agree(kind: str) -> None:
    """With and without a mean that is large beside the deviation."""
    calls = {
        "batch_norm": lambda x: F.batch_norm(x, None, None, training=True),
        "group_norm": lambda x: F.group_norm(x, 4),
        "instance_norm": lambda x: F.instance_norm(x),
        "rms_norm": lambda x: F.rms_norm(x, (10,), eps=1e-5),
    }
    for shift in (0.0, 5.0):
        x = _random(6, 8, 10, 10) + shift
        assert _same(kind, lambda x=x: calls[kind](x), calls[kind](x.double()).float())


def _with_inputs(node: Any, others: list[Any]) -> list[Deviation | None]:
    return [deviation(edge.source.value, _array(other)) for edge, other in zip(node.inputs, others, strict=True)]


@pytest.mark.slow
@settings(max_examples=25)
@given(st.floats(1e-6, 1e-2), st.integers(0, 1000))
def test_a_subtraction_that_cancels_agrees(apart: float, seed: int) -> None:
    """What came in was off by a rounding error each; of the small difference that is a large part."""
    x, y = _random(40, 50, seed=seed), _random(40, 50, seed=seed + 1)
    y = x + apart * y
    node = _record(lambda: x - y, "sub")
    u = 2.0**-24
    others = [each * (1 + u * _random(40, 50, seed=7).sign()) for each in (x.double(), y.double())]
    others = [each.float() for each in others]
    assert agree(node.value, _array(others[0] - others[1]), allowed(node, _with_inputs(node, others)))


@pytest.mark.parametrize("variance", [1e-4, 1.0, 1e4])
def test_given_statistics_of_a_norm_count(variance: float) -> None:
    """In evaluation: those that were averaged in training, not those of the input."""
    x = 10 * _random(16, 8, 5, 5)
    other = x + 1e-6 * _random(16, 8, 5, 5, seed=1)
    call = lambda x: F.batch_norm(x, torch.ones(8), torch.full((8,), variance))  # noqa: E731
    node = _record(lambda: call(x), "batch_norm")
    inputs = [deviation(x.numpy(), other.numpy()), None, None]
    assert agree(node.value, _array(call(other)), allowed(node, inputs))
    assert not agree(node.value, _array(call(other * 1.001)), allowed(node, inputs))


ILL: dict[str, Callable[[Any], Any]] = {
    "log": lambda x: torch.log(x.abs() + 1e-6),
    "exp": lambda x: torch.exp(10 * x),
    "div": lambda x: 1 / (x + 1e-4),
    "reciprocal": lambda x: torch.reciprocal(x),
    "rsqrt": lambda x: torch.rsqrt(x.abs()),
    "sqrt": lambda x: torch.sqrt(x.abs()),
    "pow": lambda x: x.pow(5),
    "tanh": lambda x: torch.tanh(x),
    "softmax": lambda x: torch.softmax(20 * x, -1),
    "log_softmax": lambda x: F.log_softmax(20 * x, -1),
    "layer_norm": lambda x: F.layer_norm(x * 1e-3 + 1, (50,)),
    "mean": lambda x: x.mean(-1),
    "std": lambda x: x.std(-1),
    "linear": lambda x: F.linear(x, _random(30, 50)),
    "matmul": lambda x: torch.matmul(x, x.T),
    "cross_entropy": lambda x: F.cross_entropy(30 * x, torch.zeros(40, dtype=torch.long)),
    "mse_loss": lambda x: F.mse_loss(x, torch.zeros(40, 50)),
}


@pytest.mark.slow
@pytest.mark.parametrize("op", ILL)
@pytest.mark.parametrize("error", [1e-7, 1e-5, 1e-3])
def test_errors_that_come_in_grow_by_the_condition_of_the_op(op: str, error: float) -> None:
    """The other run has inputs with relative errors; results are the same as far as these explain."""
    x = _random(40, 50)
    other = x * (1 + error * _random(40, 50, seed=9))
    one, two = _record(lambda: ILL[op](x), op), _record(lambda: ILL[op](other), op)
    inputs = [
        deviation(*(edge.source.output(edge.slot) for edge in pair))
        for pair in zip(one.inputs, two.inputs, strict=True)
    ]
    assert agree(one.value, two.value, allowed(one, inputs))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("op", ILL)
def test_values_at_the_ends_of_the_range_agree_with_their_neighbours(op: str) -> None:
    """Infinite, huge, tiny and zero ones: what can't be bounded is no difference."""
    x = _random(40, 50)
    for row, value in enumerate([0.0, 1e30, -1e30, 1e-30, 3e38, math.inf, -math.inf, math.nan]):
        x[row] = value
        x[row + 10, row] = value
    node = _record(lambda: ILL[op](x), op)
    with np.errstate(all="ignore"):
        up = (np.arange(node.value.size) % 3 != 0).reshape(node.value.shape) & (np.abs(node.value) < 1e38)
        other = np.nextafter(node.value, np.where(up, np.float32(np.inf), np.float32(0)))
        other = np.where(np.isfinite(node.value), other, node.value)
    assert agree(node.value, other, allowed(node, ()))


# A real difference parts ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilons", [(1e-5, 1e-12), (1e-5, 1e-6), (1e-6, 1e-12), (1e-5, 1e-3)])
@pytest.mark.parametrize("variance", [1e-2, 1e-1, 1.0, 10.0, 100.0])
@pytest.mark.parametrize("kind", ["layer_norm", "rms_norm"])
def test_another_eps_parts(epsilons: tuple[float, float], variance: float, kind: str) -> None:
    """Where it changes the result by a roundoff on the average; a quarter of one is nothing."""
    x = _random(512, 768) * math.sqrt(variance)
    call = getattr(F, kind)
    node = _record(lambda: call(x, (768,), eps=epsilons[0]), kind)
    effect = abs(epsilons[0] - epsilons[1]) / variance / 2 / 2**-24
    if not 0.25 < effect < 1:
        other = _array(call(x, (768,), eps=epsilons[1]))
        assert agree(node.value, other, allowed(node, ())) == (effect < 1)


def test_another_gelu_parts() -> None:
    """`tanh` against the error function."""
    x = _random(64, 256)
    assert not _same("gelu", lambda: F.gelu(x), F.gelu(x, approximate="tanh"))
    assert _same("gelu", lambda: F.gelu(x), 0.5 * x * (1 + torch.erf(x / math.sqrt(2))))
    wide = torch.cat([x, torch.full((64, 1), 3000.0)], 1)  # one large feature hides nothing
    assert not _same("gelu", lambda: F.gelu(wide), F.gelu(wide, approximate="tanh"))


def test_another_scale_parts() -> None:
    """`1 / sqrt(63)` for `1 / sqrt(64)`."""
    q, k, v = (_random(2, 4, 33, 64, seed=seed) for seed in range(3))
    call = lambda scale=None: F.scaled_dot_product_attention(q, k, v, scale=scale)  # noqa: E731
    assert not _same("scaled_dot_product_attention", call, call(1 / math.sqrt(63)))
    assert not _same("mul", lambda: q * (1 / math.sqrt(64)), q * (1 / math.sqrt(63)))


@pytest.mark.parametrize("width", [64, 768])
def test_a_small_bias_parts(width: int) -> None:
    """One of 1e-4 that is missing."""
    x, w, b = _random(128, width), _random(width, width, seed=1) / math.sqrt(width), 1e-4 * _random(width, seed=2)
    assert not _same("linear", lambda: F.linear(x, w), F.linear(x, w, b))


def test_another_momentum_parts() -> None:
    """Running statistics that are averaged over more steps."""
    mean = torch.zeros(8)
    new = _random(8, seed=3)
    node = _record(lambda: torch.lerp(mean, new, 0.1), "lerp")
    assert not agree(node.value, _array(torch.lerp(mean, new, 0.01)), allowed(node, ()))


@pytest.mark.slow
@pytest.mark.parametrize("op", ["linear", "layer_norm", "add", "softmax"])
def test_one_element_of_a_million_parts(op: str) -> None:
    """It is wrong by 1e-3, all others are right to the last bit."""
    x, w = _random(1000, 1000), _random(1000, 1000, seed=1) / 30
    calls = {
        "linear": lambda: F.linear(x, w),
        "layer_norm": lambda: F.layer_norm(x, (1000,)),
        "add": lambda: x + w,
        "softmax": lambda: torch.softmax(x, -1),
    }
    node = _record(calls[op], op)
    other = node.value.copy()
    other[377, 610] += 1e-3
    assert not agree(node.value, other, allowed(node, ()))


def test_a_flipped_boolean_parts_unless_what_came_in_differs() -> None:
    """Comparisons of values that lie close to the bound."""
    x = _random(1000, 100)
    node = _record(lambda: x > 0, "gt")
    flipped = node.value.copy()
    flipped[0, 0] ^= True
    assert not agree(node.value, flipped, allowed(node, ()))
    assert agree(node.value, flipped, allowed(node, [Deviation(100000, 1.0, 1e-5, 1e-6)]))


# Along a network ------------------------------------------------------------------------------------------------------


def _network(wrong_in: int = -1, layers: int = 12) -> Any:
    """Layers of a transformer, forward and backward; in one of them the second norm has another eps."""
    torch.manual_seed(0)
    width, parts = 64, torch.nn.ModuleList()
    for layer in range(layers):
        eps = 1e-12 if layer == wrong_in else 1e-5
        kinds = (width, 3 * width), (width, width), (width, 4 * width), (4 * width, width)
        linears = [torch.nn.Linear(*sizes) for sizes in kinds]
        parts.append(torch.nn.ModuleList([torch.nn.LayerNorm(width), torch.nn.LayerNorm(width, eps=eps), *linears]))
    x = torch.randn(4, 48, width)
    for one, two, qkv, out, up, down in parts:
        q, k, v = (each.unflatten(-1, (4, 16)).transpose(1, 2) for each in qkv(one(x)).chunk(3, -1))
        scores = (q @ k.transpose(-2, -1) / 4).masked_fill(torch.ones(48, 48).triu(1).bool(), -math.inf)
        x = x + out((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))
        x = x + down(F.gelu(up(two(x))))
    x.square().mean().backward()


def _recorded_network(wrong_in: int = -1, other_library: bool = False) -> Any:
    fused, threads = torch.backends.mkldnn.enabled, torch.get_num_threads()
    torch.backends.mkldnn.enabled = not other_library
    torch.set_num_threads(2 if other_library else 1)
    try:
        with gs.record(values="full", cap=1 << 26) as log:
            _network(wrong_in)
    finally:
        torch.backends.mkldnn.enabled = fused
        torch.set_num_threads(threads)
    return log


def _parted(one: Any, other: Any) -> tuple[list[Any], int]:
    """Nodes that differ though all that came in is known, and how many are not equal bit for bit."""
    found: dict[tuple[int, int], Deviation | None] = {}
    parted, unequal = [], 0
    for node, mate in zip(one.graph.nodes, other.graph.nodes, strict=True):
        assert node.op == mate.op
        for slot in range(len(node.outputs)):
            found[node.row, slot] = deviation(node.output(slot), mate.output(slot))
        unequal += found[node.row, 0].largest > 0
        if node.kind != "leaf":
            backward = node.graph_pass == "backward"
            inputs = [found[edge.source.row, 0 if backward else edge.slot] for edge in node.inputs]
            forward = [found[each] for each in saved(node)]
            if not agree(node.value, mate.value, allowed(node, inputs, forward=forward)):
                parted.append(node)
    return parted, unequal


@pytest.mark.slow
def test_twelve_layers_agree_with_another_library_of_matrices() -> None:
    """Errors are measured where they come in, so that they don't pile up, forward and backward."""
    parted, unequal = _parted(_recorded_network(), _recorded_network(other_library=True))
    assert parted == []
    assert unequal > 100


@pytest.mark.slow
def test_a_wrong_eps_after_ten_layers_of_rounding_parts() -> None:
    """It is the only node that differs by more than what came in."""
    parted, _ = _parted(_recorded_network(), _recorded_network(wrong_in=10, other_library=True))
    assert [(node.op, node.inputs[0].source.op) for node in parted] == [("layer_norm", "add")]


# Statistics, and no values --------------------------------------------------------------------------------------------


def test_statistics_agree_as_far_as_rounding_goes() -> None:
    """Where tensors are not there any more."""
    x = _random(200, 300)
    node = _record(lambda: F.layer_norm(x, (300,)), "layer_norm")
    other = _array(F.layer_norm(x.double(), (300,)).float())
    bounds = allowed(node, ())
    assert statistics_agree(summarize(node.value), summarize(other), bounds) is True
    assert statistics_agree(summarize(node.value), summarize(other * np.float32(1.01)), bounds) is False
    other[0, 0] = np.nan
    assert statistics_agree(summarize(node.value), summarize(other), bounds) is False


@pytest.mark.parametrize("values", ["none", "summary"])
def test_without_values_something_is_allowed(values: str) -> None:
    """No op fails where its inputs or result were not kept."""
    with gs.record(values=values) as log:
        x = _random(64, 64).requires_grad_()
        for call in ILL.values():
            call(x[:40, :50]).sum().backward(retain_graph=True)
    for node in log.graph.nodes:
        bound = allowed(node, [Deviation(1, 1.0, 1e-6, 1e-6)] * len(node.inputs))
        assert np.all(np.asarray(bound.absolute) >= 0)
        assert saved(node) == [] or node.graph_pass == "backward"
