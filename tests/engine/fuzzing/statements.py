"""The statements that random programs are made of: each maker writes one as text, or None where it has no operand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from .pool import Pool

Maker = Callable[[Pool], "str | None"]


class Kind(NamedTuple):
    """A kind of statement, and how often it is to occur among the others."""

    maker: Maker
    weight: int


UNARY: Final = (
    "{x}.tanh()", "{x}.sigmoid()", "({x} * 0.1).exp()", "({x} * {x} + 1).log()", "({x} * {x} + 0.1).sqrt()",
    "{x}.sin()", "{x}.cos()", "{x}.abs()", "-{x}", "{x} ** 2", "{x}.relu()", "{x}.clamp(-0.7, 0.6)", "{x}.square()",
    "torch.nn.functional.softplus({x})", "torch.nn.functional.gelu({x})", "torch.nn.functional.silu({x})",
    "torch.nn.functional.leaky_relu({x})", "{x}.atan()", "({x} * {x} + 0.2).rsqrt()", "({x} * 0.3).expm1()",
    "({x} * {x}).log1p()", "{x}.erf()", "{x}.clone()", "{x} * 1", "1.5 - {x} * 2 / 3", "2 / ({x} * {x} + 1)",
    "({x} * {x} + 1) ** -0.5", "torch.sign({x} + 0.0131)", "torch.floor({x} + 0.0131)", "{x}.softmax(-1)",
    "{x}.log_softmax(-1)",
)  # fmt: skip

BINARY: Final = (
    "{x} + {y}", "{x} - {y}", "{x} * {y}", "{x} / ({y} * {y} + 1)", "torch.add({x}, {y}, alpha=2)",
    "{y} - {x} * {y}", "({x} * {x} + 0.5) ** 1.5 * {y}", "torch.where({x} > 0.1, {x}, {x} * {y})",
)  # fmt: skip

BINARY_TENSORS: Final = (
    "torch.maximum({x}, {y})", "torch.minimum({x}, {y})", "torch.atan2({x}, {y} * {y} + 1)",
    "torch.where({x} > {y}, {x}, {y} * 2)", "torch.lerp({x}, {y}, torch.tensor(0.3))", "{x} @ {y}",
    "torch.matmul({y}, {x})",
    "torch.nn.functional.mse_loss({x}, {y}) if {x}.shape == {y}.shape else {x} * {y}",
    "torch.cat([{x}.reshape(-1), {y}.reshape(-1), {x}.reshape(-1)])", "torch.stack([{x}, {y}])",
    "torch.cat([{x}, {y}], {dim})", "torch.addcmul({x}, {x}, {y}, value=0.5)",
)  # fmt: skip

REDUCING: Final = (
    "{x}.sum()", "{x}.mean()", "{x}.sum({dim})", "{x}.mean({dim}, keepdim=True)", "{x}.sum({dim}, keepdim=True)",
    "{x}.amax({dim})", "{x}.amin({dim}, keepdim=True)", "{x}.logsumexp({dim})", "{x}.var({dim}, unbiased=False)",
    "{x}.prod({dim})", "{x}.cumsum({dim})", "({x} * {x} + 0.1).norm()", "{x}.std() if {x}.numel() > 1 else {x}.sum()",
    "{x}.prod()",
)  # fmt: skip

# PyTorch refuses to write into the views that a split made: nobody does it here.
SHAPING: Final = (
    "{x}.transpose({dim}, {dim2})", "{x}.unsqueeze({dim})", "{x}.squeeze()", "{x}.squeeze({dim})",
    "{x}.flatten() if {x}.ndim != 1 else {x}[:]",
    "{x}.reshape({shape})", "{x}.contiguous().view({shape})", "{x}.permute({order})", "{x}.expand(2, *{x}.shape)",
    "{x}.detach()", "{x}[...]", "{x}[..., None]", "{x}[0]", "{x}[-1]", "{x}[1:]", "{x}[..., :2]", "{x}[..., -1]",
    "{x}[:, 1:]", "{x}[::2]", "{x}.narrow({dim}, 0, 1)", "{x}.select({dim}, 0)", "{x}.t()", "{x}.unbind({dim})[0] * 1",
    "{x}.split(1, {dim})[-1] * 1", "{x}.chunk(2, {dim})[0] * 1", "{x}.movedim({dim}, 0)", "{x}.diagonal()",
    "{x}.expand_as(torch.ones(2, *{x}.shape))", "{x}.T if {x}.ndim == 2 else {x}", "{x}.mT if {x}.ndim > 1 else {x}",
)  # fmt: skip

MAY_COPY: Final = ("reshape", "view", "flatten")
"""What makes a view where the layout allows it, and a copy elsewhere."""

COPYING: Final = (
    "{x}.flip({dim})", "{x}.roll(1, {dim})", "{x}.repeat(2, *[1] * {x}.ndim)", "{x}.tril()",
    "torch.nn.functional.pad({x}, (1, 0))", "{x}[[0, 0]]", "{x}[torch.tensor([0, -1])]", "{x}[{x} > 0.0131]",
    "{x}[..., torch.tensor([0, 0, 0])]", "{x}.index_select({dim}, torch.tensor([0]))",
    "{x}.masked_fill({x} > 0.5, 0.25)", "({x} * 1).gather({dim}, torch.zeros_like({x}, dtype=torch.int64))",
    "({x} * 1).masked_select({x} < 0.3)", "{x}[None, ..., 0]",
)  # fmt: skip

IN_PLACE: Final = (
    "{x}.add_({y})", "{x}.mul_({y})", "{x}.sub_({y}, alpha=0.5)", "{x}.div_({y} * {y} + 1)", "{x}.zero_()",
    "{x}.fill_(0.75)", "{x}.tanh_()", "{x}.relu_()", "{x}.clamp_(-0.9, 0.8)", "{x} += {y}", "{x} *= 0.5", "{x} -= {y}",
    "{x}.copy_({y})", "{x}[0] = 0.5", "{x}[0] = {y}", "{x}[...] = {y}", "{x}[..., 0] *= 2", "{x}[1:] += 1",
    "{x}[{x} > 0.0131] = 0.125", "{x}.neg_()", "{x}.sigmoid_()", "{x}.masked_fill_({x} > 0.5, -0.3)", "{x}.sin_()",
    "{x}.t()[...] = 0.4",  "{x}[torch.tensor([0])] = {y}", "{x}.abs_()",
)  # fmt: skip

BACKWARD: Final = (
    "{x}.sum().backward(){end}", "{x}.backward(torch.ones_like({x}), retain_graph=True){end}",
    "{x}.sum().backward(retain_graph=True){end}", "({x} * {x}).sum().backward(retain_graph=True){end}",
    "{x}.mean().backward(inputs=[{leaf}], retain_graph=True){end}",
)  # fmt: skip

SETTING: Final = (
 "{x}.retain_grad()", "{x}.register_hook(lambda g: g * 0.5)", "{leaf}.grad = None",
    "{leaf}.requires_grad_(False); {leaf}.requires_grad_(True)", "{x}.register_hook(lambda g: None)",
)  # fmt: skip


def _filled(pool: Pool, template: str, x: str, **more: object) -> str:
    tensor = pool.names[x]
    dims = list(range(tensor.ndim))
    words = {
        "x": x,
        "dim": pool.dim(x),
        "dim2": pool.dim(x),
        "order": ", ".join(map(str, _shuffled(pool, dims))) or "()",
        "shape": pool.shape_of_as_many(tensor.numel()) if tensor.numel() else list(tensor.shape),
        **more,
    }
    return template.format(**words)


def _shuffled(pool: Pool, things: list[int]) -> list[int]:
    rest = list(things)
    return [rest.pop(pool.integer(0, len(rest) - 1)) for _ in things]


def of_one(templates: tuple[str, ...]) -> Maker:
    """Statements of one tensor."""

    def make(pool: Pool) -> str | None:
        x = pool.tensor()
        if x is None:
            return None
        template = pool.one(templates)
        if any(word in template for word in MAY_COPY) and not pool.lies_the_same(x):
            return None
        return f"{pool.new()} = {_filled(pool, template, x)}"

    return make


def leaf(pool: Pool) -> str:
    """A tensor of numbers, mostly one that requires grad."""
    sizes = [pool.one([1, 2, 2, 3, 3, 4]) for _ in range(pool.one([0, 1, 1, 2, 2, 2, 3]))]
    if sizes and pool.chance(3):
        sizes[-1] = 0
    grad = ", requires_grad=True" if pool.chance(75) else ""
    return f"{pool.new()} = torch.tensor({_numbers(pool, sizes)}{grad})"


def _numbers(pool: Pool, sizes: list[int]) -> object:
    return [_numbers(pool, sizes[1:]) for _ in range(sizes[0])] if sizes else pool.number()


def binary(pool: Pool) -> str | None:
    """An op of two operands that broadcast (mostly)."""
    x = pool.tensor()
    return None if x is None else f"{pool.new()} = {_filled(pool, pool.one(BINARY), x, y=pool.beside(x))}"


def of_two(templates: tuple[str, ...]) -> Maker:
    """Statements that take two tensors, and no numbers."""

    def make(pool: Pool) -> str | None:
        x = pool.tensor()
        if x is None:
            return None
        y = pool.beside(x)
        y = y if y[0] == "x" else x
        return f"{pool.new()} = {_filled(pool, pool.one(templates), x, y=y)}"

    return make


def leaf_of_result(pool: Pool) -> str | None:
    """A new leaf with the numbers of another tensor."""
    x = pool.tensor()
    return None if x is None else f"{pool.new()} = {x}.detach().clone().requires_grad_()"


def quiet(pool: Pool) -> str | None:
    """Something under `no_grad`, in-place writes into leaves among them."""
    x = pool.tensor()
    if x is None:
        return None
    if pool.chance(40):
        target = pool.tensor(lambda tensor: tensor.is_leaf and pool.alone(tensor))
        if target is None:
            return None
        if pool.chance(20):
            return f"{target}.detach().mul_(1.1)"
        return (
            f"with torch.no_grad(): {target}.mul_(0.9)"
            if pool.chance(50)
            else f"with torch.no_grad(): {target} -= 0.01"
        )
    return f"with torch.no_grad(): {pool.new()} = {_filled(pool, pool.one(UNARY), x)}"


def writing(templates: tuple[str, ...]) -> Maker:
    """Writes into a tensor: into results mostly, into leaves (which must be refused) at times."""

    def make(pool: Pool) -> str | None:
        results = pool.chance(93)
        x = pool.tensor(
            lambda tensor: not (results and tensor.is_leaf and tensor.requires_grad) and pool.writable(tensor)
        )
        return None if x is None else _filled(pool, pool.one(templates), x, y=pool.beside(x, apart=True))

    return make


def fresh_copy_in_place(pool: Pool) -> str | None:
    """A write into a copy that nobody else looks at."""
    x = pool.tensor(pool.writable)
    if x is None:
        return None
    name = pool.new()
    return f"{name} = {x} * 1; " + pool.one(IN_PLACE[:12]).format(x=name, y=pool.beside(x))


def backward(pool: Pool) -> str | None:
    """A backward pass, from what requires grad mostly."""
    x = pool.tensor(lambda tensor: tensor.requires_grad) if pool.chance(95) else pool.tensor()
    source = pool.tensor(lambda tensor: tensor.is_leaf and tensor.requires_grad)
    if x is None or source is None:
        return None
    return pool.one(BACKWARD).format(x=x, leaf=source, end="")


def double(pool: Pool) -> str | None:
    """Gradients as tensors of the graph, to be used on."""
    x = pool.tensor(lambda tensor: tensor.requires_grad)
    source = pool.tensor(lambda tensor: tensor.requires_grad)
    if x is None or source is None:
        return None
    create = pool.one(["create_graph=True", "create_graph=True", "retain_graph=True"])
    of = f"({x} * {x}).sum()" if pool.chance(50) else f"{x}.sum()"
    name = pool.new()
    return (
        f"{name}, = torch.autograd.grad({of}, [{source}], {create}, allow_unused=True)\n"
        f"{name} = None if {name} is None else {name} * 1"
    )


def setting(pool: Pool) -> str | None:
    """Hooks, retained gradients, gradients cleared."""
    x = pool.tensor()
    source = pool.tensor(lambda tensor: tensor.is_leaf and tensor.requires_grad)
    return None if x is None or source is None else pool.one(SETTING).format(x=x, leaf=source)


KINDS: Final[dict[str, Kind]] = {
    "leaf": Kind(leaf, 6),
    "leaf of a result": Kind(leaf_of_result, 2),
    "unary": Kind(of_one(UNARY), 16),
    "binary": Kind(binary, 16),
    "binary of tensors": Kind(of_two(BINARY_TENSORS), 12),
    "reducing": Kind(of_one(REDUCING), 7),
    "shaping": Kind(of_one(SHAPING), 16),
    "copying": Kind(of_one(COPYING), 8),
    "quiet": Kind(quiet, 4),
    "copy, then in place": Kind(fresh_copy_in_place, 3),
    "in place": Kind(writing(IN_PLACE), 10),
    "backward": Kind(backward, 6),
    "double": Kind(double, 5),
    "setting": Kind(setting, 3),
}
"""Every kind of statement."""


WAITING: Final[frozenset[str]] = frozenset()
"""Kinds that the engine is not ready for."""

READY: Final = {name: kind for name, kind in KINDS.items() if name not in WAITING}
"""Kinds that programs are made of."""


def statement(pool: Pool, kinds: dict[str, Kind]) -> str | None:
    """A statement of one of these kinds; None where the tensors at hand are none for it."""
    bag = [name for name, kind in kinds.items() for _ in range(kind.weight)]
    return kinds[pool.one(bag)].maker(pool)
