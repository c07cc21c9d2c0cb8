"""Derivatives as functions of functions, under the names of `torch.func`.

They nest, and take dicts and lists of tensors. `vmap` runs its function once for each place of the batch: the result is
PyTorch's, the speed is that of a loop (most ops take leading dims as they come, which is faster).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from graphscope.engine.absent import answer_for as _answer_for
from graphscope.engine.core import gradients
from graphscope.engine.core.modes import enable_grad, is_grad_enabled
from graphscope.engine.core.node import PLAN, Record
from graphscope.engine.core.op import OPS
from graphscope.engine.core.tensor import Tensor
from graphscope.engine.ops.splitting import select

Function = Callable[..., Any]

__all__ = [
    "functional_call", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "stack_module_state", "vjp", "vmap",
]  # fmt: skip


def grad(func: Function, argnums: int | tuple[int, ...] = 0, has_aux: bool = False) -> Function:
    """A function that gives the gradients of `func`, whose result has one element.

    Args:
        func: The function.
        argnums: By which of its arguments to differentiate.
        has_aux: Whether `func` returns (result, anything); then (gradients, anything) is returned.

    Returns:
        A function of the same arguments.
    """
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def gradient(*args: Any, **kwargs: Any) -> Any:
        found, value = both(*args, **kwargs)
        return (found, value[1]) if has_aux else found

    return gradient


def grad_and_value(func: Function, argnums: int | tuple[int, ...] = 0, has_aux: bool = False) -> Function:
    """A function that gives the gradients of `func`, and its result; the arguments are those of `grad`."""

    @functools.wraps(func)
    def both(*args: Any, **kwargs: Any) -> Any:
        outer = is_grad_enabled()
        with enable_grad():
            fresh, given = _fresh(args, argnums)
            result = func(*given, **kwargs)
            out = result[0] if has_aux else result
            if not isinstance(out, Tensor) or out.array.ndim:
                raise RuntimeError(
                    f"Expected f(*args) to return a scalar tensor, got {_said(out)}: reduce it first, for example with "
                    ".sum(), or use jacrev"
                )
            leaves = list(_leaves(fresh))
            found = iter(_gradients(out, leaves, None))
            tree = of_leaves(fresh, lambda _: _closed(next(found), leaves, outer))
        closed = of_leaves(result, lambda value: _closed(value, leaves, outer))
        return tree if isinstance(argnums, tuple) else tree[0], closed

    return both


def vjp(func: Function, *primals: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """The result of `func(*primals)`, and a function from cotangents of the result to gradients of the arguments.

    Args:
        func: The function.
        *primals: Its arguments: tensors, or dicts and lists of them.
        has_aux: Whether `func` returns (result, anything); then that comes third.

    Returns:
        The result, the function, and what came besides.
    """
    outer = is_grad_enabled()
    with enable_grad():
        fresh, given = _fresh(primals, tuple(range(len(primals))))
        result = func(*given)
    out = result[0] if has_aux else result
    leaves = list(_leaves(fresh))
    roots = list(_leaves(out))

    def pull(*cotangents: Any) -> Any:
        weights = list(_leaves(cotangents))
        if len(weights) != len(roots):
            raise RuntimeError(f"the result has {len(roots)} tensors, {len(weights)} cotangents were given")
        found = iter(_gradients(roots, leaves, weights))
        return of_leaves(fresh, lambda _: _closed(next(found), leaves, outer))

    shown = of_leaves(out, lambda value: _closed(value, leaves, outer))
    return (shown, pull, result[1]) if has_aux else (shown, pull)


def jacrev(func: Function, argnums: int | tuple[int, ...] = 0, has_aux: bool = False) -> Function:
    """A function that gives the Jacobian of `func`: for each tensor of the result one for each of the arguments.

    Args:
        func: The function.
        argnums: By which of its arguments to differentiate.
        has_aux: Whether `func` returns (result, anything); then (Jacobian, anything) is returned.

    Returns:
        A function of the same arguments.
    """

    @functools.wraps(func)
    def jacobian(*args: Any, **kwargs: Any) -> Any:
        outer = is_grad_enabled()
        with enable_grad():
            fresh, given = _fresh(args, argnums)
            result = func(*given, **kwargs)
            out = result[0] if has_aux else result
            leaves = list(_leaves(fresh))

            def of_one(value: Tensor) -> Any:
                rows = [_gradients(value, leaves, [unit]) for unit in _units(value)]
                found = iter(
                    _closed(_stacked([row[number] for row in rows], value, leaf), leaves, outer)
                    for number, leaf in enumerate(leaves)
                )
                tree = of_leaves(fresh, lambda _: next(found))
                return tree if isinstance(argnums, tuple) else tree[0]

            jacobians = of_leaves(out, of_one)
        return (jacobians, result[1]) if has_aux else jacobians

    return jacobian


def jacfwd(
    func: Function, argnums: int | tuple[int, ...] = 0, has_aux: bool = False, *, randomness: str = "error"
) -> Function:
    """As `jacrev`: there is no forward mode here, and the result is the same."""
    return jacrev(func, argnums, has_aux)


def hessian(func: Function, argnums: int | tuple[int, ...] = 0) -> Function:
    """A function that gives the Jacobian of the Jacobian of `func`."""
    return jacrev(jacrev(func, argnums), argnums)


def vmap(
    func: Function, in_dims: Any = 0, out_dims: Any = 0, randomness: str = "error", *, chunk_size: int | None = None
) -> Function:
    """A function of batches: `func` is called for each place of the batch, and its results are stacked.

    Args:
        func: A function of tensors; its results are tensors, or dicts, lists and tuples of them.
        in_dims: Which dim of each argument the batch is: one number for all, or one for each argument (a tree like it);
            None: it has none. Keyword arguments have none.
        out_dims: Where the batch is in the results; likewise.
        randomness: Accepted; random numbers differ from place to place.
        chunk_size: Accepted and of no effect.

    Raises:
        ValueError: No argument has a batch, or they differ in length.
    """

    @functools.wraps(func)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        dims = in_dims if isinstance(in_dims, tuple | list) else (in_dims,) * len(args)
        if len(dims) != len(args):
            raise ValueError(f"vmap: in_dims has {len(dims)} entries for {len(args)} arguments")
        counts = {size for tree, dim in zip(args, dims, strict=True) for size in _batches(tree, dim)}
        if not counts:
            raise ValueError("vmap: at least one argument must have a batch: in_dims is None for all")
        if len(counts) > 1:
            raise ValueError(f"vmap: Expected all tensors to have the same size in the mapped dimension, got {counts}")
        results = [
            func(*(_part(tree, dim, place) for tree, dim in zip(args, dims, strict=True)), **kwargs)
            for place in range(counts.pop())
        ]
        return _joined(results, out_dims)

    return mapped


def _batches(tree: Any, dim: Any) -> Iterator[int]:
    """The sizes of the mapped dims of the tensors of a tree."""
    if isinstance(tree, dict | tuple | list):
        for key in tree if isinstance(tree, dict) else range(len(tree)):
            yield from _batches(tree[key], dim[key] if isinstance(dim, dict | tuple | list) else dim)
    elif isinstance(tree, Tensor) and dim is not None:
        yield tree.shape[dim]


def _part(tree: Any, dim: Any, place: int) -> Any:
    """A tree at one place of the batch."""
    if isinstance(tree, dict):
        return {key: _part(value, dim[key] if isinstance(dim, dict) else dim, place) for key, value in tree.items()}
    if isinstance(tree, tuple | list):
        dims = dim if isinstance(dim, tuple | list) else (dim,) * len(tree)
        return type(tree)(_part(value, each, place) for value, each in zip(tree, dims, strict=True))
    return select(tree, dim, place) if isinstance(tree, Tensor) and dim is not None else tree


def _joined(results: list[Any], dim: Any) -> Any:
    """The results of all places as one, like each of them."""
    first = results[0]
    if isinstance(first, dict):
        return {key: _joined([each[key] for each in results], dim) for key in first}
    if isinstance(first, tuple | list):
        dims = dim if isinstance(dim, tuple | list) else (dim,) * len(first)
        return type(first)(_joined([each[number] for each in results], dims[number]) for number in range(len(first)))
    if not isinstance(first, Tensor):
        raise ValueError(f"vmap: a function that is mapped returns tensors, not {_said(first)}")  # noqa: TRY004 - as torch
    return first if dim is None else OPS["stack"].call(results, dim)


def functional_call(
    module: Any, parameter_and_buffer_dicts: Any, args: Any = None, kwargs: dict[str, Any] | None = None, **_: Any
) -> Any:
    """Call a module with other tensors in the place of its parameters and buffers, which it has back afterwards.

    Args:
        module: The module.
        parameter_and_buffer_dicts: Tensors by path, or several such dicts.
        args: The arguments of the call; one that is no tuple stands for itself.
        kwargs: Its keyword arguments.
        **_: `tie_weights` and `strict`, accepted and of no effect.
    """
    given = parameter_and_buffer_dicts
    tensors = dict(given) if isinstance(given, dict) else {k: v for each in given for k, v in each.items()}
    places = []
    for path, tensor in tensors.items():
        parent, _, name = path.rpartition(".")
        owner = module.get_submodule(parent)
        holder = owner._parameters if name in owner._parameters else owner._buffers
        if name not in holder:
            raise KeyError(f"functional_call: {type(module).__name__} has no parameter or buffer {path!r}")
        places.append((owner, holder, name, holder[name], tensor))
    try:
        for owner, holder, name, _, tensor in places:
            holder[name] = owner.__dict__[name] = tensor
        return module(*(args if isinstance(args, tuple) else () if args is None else (args,)), **(kwargs or {}))
    finally:
        for owner, holder, name, before, _ in places:
            holder[name] = owner.__dict__[name] = before


def stack_module_state(models: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The parameters of modules of one kind, stacked by path, and their buffers: what `vmap` takes for an ensemble."""
    stacked = []
    for named in ("named_parameters", "named_buffers"):
        each = [dict(getattr(model, named)()) for model in models]
        stacked.append({path: OPS["stack"].call([held[path].detach() for held in each], 0) for path in each[0]})
    for parameter in stacked[0].values():
        parameter.requires_grad_()
    return stacked[0], stacked[1]


def _fresh(args: tuple[Any, ...], argnums: int | tuple[int, ...]) -> tuple[Any, list[Any]]:
    """The arguments to differentiate by, as tensors of their own that know where they came from; and all arguments."""
    places = (argnums,) if isinstance(argnums, int) else argnums
    given = list(args)
    for place in places:
        if not -len(args) <= place < len(args):
            raise RuntimeError(f"Got argnum={place}, but only {len(args)} positional inputs")
        given[place] = of_leaves(given[place], _own)
    return tuple(given[place] for place in places), given


def _own(value: Any) -> Any:
    if not isinstance(value, Tensor):
        raise RuntimeError(f"to differentiate by an argument, it has to be a tensor, not {_said(value)}")  # noqa: TRY004 - as torch
    return value.clone() if value.requires_grad else value.detach().requires_grad_()


def of_leaves(tree: Any, function: Callable[[Any], Any]) -> Any:
    """A tree of dicts, lists and tuples with other leaves."""
    if isinstance(tree, dict):
        return {key: of_leaves(value, function) for key, value in tree.items()}
    if isinstance(tree, tuple | list):
        mapped = [of_leaves(value, function) for value in tree]
        return mapped if isinstance(tree, list) else tuple(mapped)
    return function(tree)


def _leaves(tree: Any) -> Iterator[Tensor]:
    if isinstance(tree, dict | tuple | list):
        for value in tree.values() if isinstance(tree, dict) else tree:
            yield from _leaves(value)
    else:
        yield tree


def _gradients(out: Any, leaves: list[Tensor], weights: Any) -> list[Tensor]:
    roots = [out] if isinstance(out, Tensor) else list(out)
    if weights is not None:
        pairs = [(root, weight) for root, weight in zip(roots, weights, strict=True) if root.requires_grad]
        roots, weights = [root for root, _ in pairs], [weight for _, weight in pairs]
    else:
        roots = [root for root in roots if root.requires_grad]
    if not roots:
        return [Tensor(np.zeros_like(leaf.array)[()]) for leaf in leaves]
    found = gradients.grad(roots, leaves, weights, create_graph=True, materialize_grads=True)
    return [value for value in found if value is not None]


def _closed(value: Any, leaves: list[Tensor], outer: bool) -> Any:
    """A result as callers may use it: what depends on our own leaves alone is a constant to them."""
    if not isinstance(value, Tensor) or not value.requires_grad:
        return value
    return value if outer and _depends(value, leaves) else value.detach()


def _depends(value: Tensor, leaves: list[Tensor]) -> bool:
    """Whether a tensor came from any that requires grad besides these leaves."""
    own = {id(leaf) for leaf in leaves}
    if value.node is None:
        return id(value) not in own
    seen: set[int] = set()
    pending: list[Record] = [value.node]
    while pending:
        record = pending.pop()
        if id(record) in seen:
            continue
        seen.add(id(record))
        for target in record[PLAN].targets(record):
            if target.__class__ is list:
                pending.append(target)
            elif id(target) not in own:
                return True
    return False


def _units(value: Tensor) -> Iterator[Tensor]:
    for place in np.ndindex(tuple(value.shape)):
        unit = np.zeros(value.shape, value.dtype)
        unit[place] = 1
        yield Tensor(unit[()])


def _stacked(rows: list[Tensor], value: Tensor, leaf: Tensor) -> Tensor:
    shape = (*value.shape, *leaf.shape)
    if not rows:
        return Tensor(np.zeros(shape, leaf.dtype))
    stacked: Tensor = OPS["stack"].call(rows).reshape(shape)
    return stacked


def _said(value: Any) -> str:
    return f"a tensor of shape {tuple(value.shape)}" if isinstance(value, Tensor) else type(value).__name__


_answer_for(__name__)
