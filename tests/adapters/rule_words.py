"""The words of rules as PyTorch computes them: what the text of a rule says is evaluated, and compared with torch."""

from __future__ import annotations

import math
import re
from typing import Any, Final

import torch
from torch.nn import functional

_DEFINITION: Final = re.compile(r", (?=\w+(?:, \w+)* = )")
Tensor = torch.Tensor


def evaluated(rule: str, names: dict[str, Any]) -> Any:
    """What a rule says, with these names; `where` is read from its last definition to its first."""
    known = {**WORDS, **names}
    expression, _, definitions = rule.partition(" where ")
    for line in reversed(_DEFINITION.split(definitions)) if definitions else ():
        exec(line, known)
    return eval(expression, known)


def fitted(found: Any, like: Tensor) -> Tensor:
    """A gradient with broadcasting undone."""
    found = torch.as_tensor(found, dtype=like.dtype)
    if found.numel() == like.numel():
        return found.reshape(like.shape)
    while found.dim() > like.dim():
        found = found.sum(0)
    for dim, (mine, theirs) in enumerate(zip(found.shape, like.shape, strict=False)):
        if found.dim() == like.dim() and theirs == 1 and mine != 1:
            found = found.sum(dim, keepdim=True)
    return found.expand(like.shape)


def total(x: Tensor, dim: Any = None) -> Tensor:
    """A sum, whose dim stays."""
    return x.sum() if dim is None else x.sum(dim, keepdim=True)


def mean(x: Tensor, dim: Any = None) -> Tensor:
    return x.mean() if dim is None else x.mean(dim, keepdim=True)


def count(x: Tensor, dim: Any = None) -> int:
    dims = range(x.dim()) if dim is None else dim if isinstance(dim, (tuple, list)) else (dim,)
    return math.prod(x.shape[each] for each in dims)


def spread(g: Tensor, x: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """A gradient of what was reduced, laid along the dims that are gone."""
    if dim is not None and not keepdim:
        for each in sorted(each % x.dim() for each in (dim if isinstance(dim, (tuple, list)) else (dim,))):
            g = g.unsqueeze(each)
    return g.expand(x.shape)


def put(x: Tensor, index: Any, g: Tensor) -> Tensor:
    found = torch.zeros_like(x)
    found[index] = g
    return found


def put_diagonal(x: Tensor, offset: int, dim1: int, dim2: int, g: Tensor) -> Tensor:
    found = torch.zeros_like(x)
    found.diagonal(offset, dim1, dim2).copy_(g)
    return found


def part(g: Tensor, x: list[Tensor], i: int, dim: int) -> Tensor:
    return g.split([each.shape[dim] for each in x], dim)[i]


def sum_of_copies(g: Tensor, x: Tensor) -> Tensor:
    lengths = [1] * (g.dim() - x.dim()) + list(x.shape)
    parts = [part for length, whole in zip(lengths, g.shape, strict=True) for part in (whole // length, length)]
    return g.reshape(parts).sum(tuple(range(0, len(parts), 2))).reshape(x.shape)


def einsum_back(g: Tensor, equation: str, x: list[Tensor], i: int) -> Tensor:
    letters, result = equation.split("->")
    terms = letters.split(",")
    others = [each for place, each in enumerate(terms) if place != i]
    return torch.einsum(",".join([result, *others]) + "->" + terms[i], g, *(y for k, y in enumerate(x) if k != i))


def selected(x: Tensor, dim: int, indices: Tensor, g: Tensor) -> Tensor:
    if indices.dim() < x.dim():
        indices, g = indices.unsqueeze(dim), g.unsqueeze(dim)
    return torch.zeros_like(x).scatter(dim, indices, g)


def at_largest(g: Tensor, x: Tensor, size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1) -> Tensor:
    """Each gradient where the largest element of its window is, window by window."""
    rank = x.dim() - 2
    kernel, stride, padding, dilation = (_several(each, rank) for each in (size, stride or size, padding, dilation))
    found = torch.zeros_like(x)
    for place in torch.cartesian_prod(*(torch.arange(n) for n in g.shape[2:])).reshape(-1, rank).tolist():
        starts = [p * s - q for p, s, q in zip(place, stride, padding, strict=True)]
        window = (
            slice(None),
            slice(None),
            *(
                slice(max(start, 0), start + (k - 1) * d + 1, d)
                for start, k, d in zip(starts, kernel, dilation, strict=True)
            ),
        )
        seen = x[window]
        largest = seen.flatten(2).argmax(2, keepdim=True)
        spot = torch.zeros_like(seen).flatten(2).scatter(2, largest, g[(slice(None), slice(None), *place)][..., None])
        found[window] += spot.reshape(seen.shape)
    return found


def over_windows(g: Tensor, x: Tensor, size: Any, stride: Any = None, padding: Any = 0) -> Tensor:
    """Each gradient to all elements of its window."""
    rank = x.dim() - 2
    if stride is None:  # so many windows
        size = [whole // parts for whole, parts in zip(x.shape[2:], g.shape[2:], strict=True)]
    kernel, stride = _several(size, rank), _several(stride or size, rank)
    found = torch.zeros_like(x)
    for place in torch.cartesian_prod(*(torch.arange(n) for n in g.shape[2:])).reshape(-1, rank).tolist():
        window = tuple(slice(p * s, p * s + k) for p, s, k in zip(place, stride, kernel, strict=True))
        found[(slice(None), slice(None), *window)] += g[(slice(None), slice(None), *place)][(..., *[None] * rank)]
    return found


def _several(value: Any, rank: int) -> list[int]:
    return [value] * rank if isinstance(value, int) else list(value) * (rank if len(value) == 1 else 1)


def one_hot(target: Tensor, x: Tensor) -> Tensor:
    if target.is_floating_point():
        return target
    return functional.one_hot(target.clamp(0), x.shape[1]).movedim(-1, 1).to(x.dtype)


def class_weights(weight: Tensor | None, target: Tensor, ignore_index: int) -> Tensor:
    """What each row counts, in the shape of a column of the logits."""
    if target.is_floating_point():
        return torch.ones(len(target), 1, dtype=target.dtype)
    counts = torch.ones_like(target, dtype=torch.float64) if not isinstance(weight, Tensor) else weight[target.clamp(0)]
    return torch.where(target == ignore_index, 0, counts).unsqueeze(1)


def channel(weight: Tensor | None, x: Tensor) -> Any:
    return weight if not isinstance(weight, Tensor) else weight.reshape(-1, *[1] * (x.dim() - 2))


def put_rows(weight: Tensor, x: Tensor, g: Tensor, padding_idx: int | None) -> Tensor:
    rows = g.reshape(-1, g.shape[-1]) * (x.reshape(-1, 1) != (-1 if padding_idx is None else padding_idx))
    return torch.zeros_like(weight).index_add(0, x.reshape(-1), rows)


_SAME: Final = (
    "abs", "cos", "cosh", "sin", "sinh", "tanh", "floor", "trunc", "sigmoid", "softmax", "isfinite", "cumsum", "cat",
    "stack", "outer", "einsum", "tril", "triu", "clamp", "transpose", "permute", "movedim", "select", "index_add",
    "gather", "index_select", "roll", "diag", "scatter", "scatter_add", "log1p", "sign",
)  # fmt: skip
"""What torch calls so, too."""

WORDS: Final[dict[str, Any]] = {
    **{name: getattr(torch, name) for name in _SAME},
    "digamma": torch.digamma,
    "flip": lambda x, dim: x.flip(dim), "pi": math.pi, "sum": total, "mean": mean, "count": count, "spread": spread,
    "put": put, "part": part, "put_diagonal": put_diagonal, "sum_of_copies": sum_of_copies,
    "einsum_back": einsum_back, "at_largest": at_largest, "over_windows": over_windows, "one_hot": one_hot,
    "class_weights": class_weights,
    "log": lambda x: torch.log(torch.as_tensor(x)),
    "exp": lambda x: torch.exp(torch.as_tensor(x)),
    "sqrt": lambda x: torch.sqrt(torch.as_tensor(x)),
    "where": lambda c, x, y: torch.where(c, torch.as_tensor(x, dtype=torch.float64), torch.as_tensor(y).double()),
    "normal_cdf": lambda x: (1 + torch.erf(x / 2**0.5)) / 2,
    "reshape": lambda g, x: g.reshape(x.shape),
    "rows": lambda x: x.reshape(-1, x.shape[-1]) if x.dim() > 1 else x[None],
    "zeros": torch.zeros_like,
    "at": lambda x, index: put(x, index, 1.0) == 1,
    "inverse": lambda dims: [list(dims).index(place) for place in range(len(dims))],
    "half": lambda x, number, dim: x.chunk(2, dim)[number],
    "norm": lambda x, p, dim: torch.linalg.vector_norm(x, p, dim, keepdim=True),
    "inv": torch.linalg.inv,
    "eye": lambda x: torch.eye(*x.shape, dtype=x.dtype),
    "selected": selected,
    "take": torch.gather,
    "last": lambda shape: tuple(range(-len(shape), 0)),
    "variance": lambda x, dim: x.var(dim, correction=0, keepdim=True),
    "channel": channel,
    "window_size": lambda size, x: math.prod(_several(size, x.dim() - 2)),
    "put_rows": put_rows,
    "image_dims": lambda x: tuple(range(2, x.dim())),
    "all_but": lambda dim, x: tuple(each for each in range(x.dim()) if each != dim),
    "grouped": lambda x, groups: x.reshape(x.shape[0], groups, -1),
    "ungrouped": lambda y, g: y.reshape(g.shape),
    "inner": lambda g, pad: functional.pad(g, [-each for each in pad]),
    "pixel_unshuffle": functional.pixel_unshuffle,
    "put_along": lambda x, dim, index, g: put(x, (slice(None),) * dim + (index,), g),
    "put_range": lambda x, dim, start, length, g: put(x, (slice(None),) * dim + (slice(start, start + length),), g),
}  # fmt: skip
for rank in (1, 2, 3):
    back: Any = getattr(torch.nn.grad, f"conv{rank}d_input")
    weigh: Any = getattr(torch.nn.grad, f"conv{rank}d_weight")
    WORDS[f"conv{rank}d"] = getattr(functional, f"conv{rank}d")
    WORDS[f"conv{rank}d_input"] = lambda x, w, g, *settings, back=back: back(x.shape, w, g, *settings)
    WORDS[f"conv{rank}d_weight"] = lambda x, w, g, *settings, weigh=weigh: weigh(x, w.shape, g, *settings)
