"""Pruning: a mask beside a parameter, which is multiplied with it before each call of its module.

A pruned parameter `weight` becomes a parameter `weight_orig` and a buffer `weight_mask`; `weight` is their product.
Pruning again takes from what the masks before had left.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar, Self

from graphscope.engine.ops.joining import cat
from graphscope.engine.ops.like_others import ones_like, rand_like
from graphscope.engine.ops.norms import norm
from graphscope.engine.ops.randoms import rand
from graphscope.engine.ops.sorting import topk

__all__ = [
    "BasePruningMethod",
    "CustomFromMask",
    "Identity",
    "L1Unstructured",
    "LnStructured",
    "PruningContainer",
    "RandomStructured",
    "RandomUnstructured",
    "custom_from_mask",
    "global_unstructured",
    "identity",
    "is_pruned",
    "l1_unstructured",
    "ln_structured",
    "random_structured",
    "random_unstructured",
    "remove",
]


class BasePruningMethod(ABC):
    """A way to choose what is pruned, and the hook that applies the mask of one parameter.

    Attributes:
        PRUNING_TYPE: `unstructured`: chosen among the elements that are left; `structured`: among the channels, places
            of a dim, of which something is left; `global`: among all.
    """

    PRUNING_TYPE: ClassVar[str] = "unstructured"
    _tensor_name: str

    def __call__(self, module: Any, inputs: Any) -> None:
        """Multiply the parameter with its mask, before a call of its module."""
        object.__setattr__(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """The mask, of the shape of t: 0 where it is pruned.

        Args:
            t: How important each element is: the parameter itself, if nothing else is told.
            default_mask: The mask so far.
        """

    def apply_mask(self, module: Any) -> Any:
        """The pruned parameter."""
        mask, original = (getattr(module, f"{self._tensor_name}_{part}") for part in ("mask", "orig"))
        return mask.to(original.dtype) * original

    @classmethod
    def apply(cls, module: Any, name: str, *args: Any, importance_scores: Any = None, **kwargs: Any) -> Self:
        """Prune the parameter `name` of a module from now on.

        Args:
            module: The module.
            name: The parameter.
            *args: What the method takes.
            importance_scores: By what to choose in the place of the values, of the same shape.
            **kwargs: What the method takes.

        Returns:
            The method; where the parameter was pruned before, a `PruningContainer` of all.

        Raises:
            ValueError: The scores are of another shape, or an amount makes no sense.
        """
        method: Any = cls(*args, **kwargs)
        method._tensor_name = name
        before = next((hook for _, hook in _methods(module) if hook._tensor_name == name), None)
        values = getattr(module, name)
        scores = values if importance_scores is None else importance_scores
        if tuple(scores.shape) != tuple(values.shape):
            raise ValueError(f"importance_scores have shape {tuple(scores.shape)}, {name} has {tuple(values.shape)}")
        if before is None:
            mask = method.compute_mask(scores.detach(), ones_like(values.detach()))
            delattr(module, name)
            module.register_parameter(f"{name}_orig", values)
        else:
            container = before if isinstance(before, PruningContainer) else PruningContainer(before)
            container.add_pruning_method(method)
            method = container
            mask = method.compute_mask(scores.detach(), getattr(module, f"{name}_mask").clone())
            _unhook(module, before)
        module.register_buffer(f"{name}_mask", mask)
        method(module, ())
        module.register_forward_pre_hook(method)
        return method  # type: ignore[no-any-return]

    def prune(self, t: Any, default_mask: Any = None, importance_scores: Any = None) -> Any:
        """A tensor, pruned: nothing is kept of how."""
        scores = t if importance_scores is None else importance_scores
        return t * self.compute_mask(scores.detach(), ones_like(t) if default_mask is None else default_mask)

    def remove(self, module: Any) -> None:
        """Make the pruned parameter the parameter: what was pruned is 0 for good."""
        name = self._tensor_name
        pruned, parameter = self.apply_mask(module).detach(), getattr(module, f"{name}_orig")
        parameter.data = pruned
        for part in (name, f"{name}_orig", f"{name}_mask"):
            delattr(module, part)
        module.register_parameter(name, parameter)


class PruningContainer(BasePruningMethod):
    """The methods that a parameter was pruned by, one after the other; the last one chooses among what is left."""

    def __init__(self, *args: Any) -> None:
        self._pruning_methods: tuple[BasePruningMethod, ...] = ()
        for method in args[0] if args and isinstance(args[0], Iterable) else args:
            if not self._pruning_methods:
                self._tensor_name = method._tensor_name
            self.add_pruning_method(method)

    def add_pruning_method(self, method: BasePruningMethod | None) -> None:
        """Add a method of the same parameter.

        Raises:
            TypeError: It is no method.
            ValueError: It is of another parameter.
        """
        if not isinstance(method, BasePruningMethod) and method is not None:
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if method is not None and method._tensor_name != self._tensor_name:
            raise ValueError(
                "Can only add pruning methods acting on the parameter named "
                f"'{self._tensor_name}' to PruningContainer {self}. Found '{method._tensor_name}'"
            )
        self._pruning_methods += (method,)  # type: ignore[operator]

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Iterator[BasePruningMethod]:
        return iter(self._pruning_methods)

    def __getitem__(self, place: int) -> BasePruningMethod:
        return self._pruning_methods[place]

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """The mask so far, less what the last method takes of what it left."""
        method = self._pruning_methods[-1]
        mask = default_mask.to(t.dtype).clone()
        part: Any = ...
        if method.PRUNING_TYPE == "unstructured":
            part = mask == 1
        elif method.PRUNING_TYPE == "structured":
            dim: int = method.dim % t.ndim  # type: ignore[attr-defined]
            left = (mask != 0).any([other for other in range(t.ndim) if other != dim]) if t.ndim > 1 else mask != 0
            part = (slice(None),) * dim + (left,)
        elif method.PRUNING_TYPE != "global":
            raise ValueError(f"Unrecognized PRUNING_TYPE {method.PRUNING_TYPE}")
        mask[part] = method.compute_mask(t[part], mask[part])
        return mask


class Identity(BasePruningMethod):
    """Prunes nothing: a parameter and a mask of ones."""

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """The mask so far."""
        return default_mask


class CustomFromMask(BasePruningMethod):
    """Prunes what a mask says."""

    PRUNING_TYPE = "global"

    def __init__(self, mask: Any) -> None:
        self.mask = mask

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """Both masks together."""
        return default_mask * self.mask.to(default_mask.dtype)


class _Amount(BasePruningMethod):
    """Prunes a number of elements or channels, or a fraction of them."""

    def __init__(self, amount: float) -> None:
        if isinstance(amount, float) and not 0 <= amount <= 1:
            raise ValueError(f"amount={amount} should be a float in the range [0.0, 1.0]")
        if isinstance(amount, int) and amount < 0:
            raise ValueError(f"amount={amount} should be a non-negative integer")
        self.amount = amount

    def count(self, of: int) -> int:
        """How many of so many there are to prune.

        Raises:
            ValueError: More than there are.
        """
        count = self.amount if isinstance(self.amount, int) else round(self.amount * of)
        if count > of:
            raise ValueError(f"amount={count} should be smaller than the number of parameters to prune={of}")
        return count

    def without_least(self, scores: Any) -> Any:
        """A mask of the shape of scores: 0 where they are least."""
        mask = ones_like(scores)
        count = self.count(scores.numel())
        if count:
            mask.view(-1)[topk(scores.reshape(-1), count, largest=False).indices] = 0
        return mask


class RandomUnstructured(_Amount):
    """Prunes elements at random: a number of them, or a fraction."""

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """The mask so far, less as many elements."""
        return default_mask * self.without_least(rand_like(t))


class L1Unstructured(_Amount):
    """Prunes the elements of the least absolute values: a number of them, or a fraction."""

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """The mask so far, less as many elements."""
        return default_mask * self.without_least(t.abs())


class _Structured(_Amount):
    PRUNING_TYPE = "structured"

    def __init__(self, amount: float, dim: int = -1) -> None:
        super().__init__(amount)
        self.dim = dim

    def spread(self, mask: Any, t: Any) -> Any:
        """A mask of channels as one of elements."""
        shape = [1] * t.ndim
        shape[self.dim] = -1
        return mask.view(shape).expand(t.shape)


class RandomStructured(_Structured):
    """Prunes channels along a dim at random: a number of them, or a fraction."""

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """The mask so far, less as many channels."""
        return default_mask * self.spread(self.without_least(rand(t.shape[self.dim], dtype=t.dtype)), t)


class LnStructured(_Structured):
    """Prunes the channels along a dim whose norms of order n are least: a number of them, or a fraction."""

    def __init__(self, amount: float, n: Any, dim: int = -1) -> None:
        super().__init__(amount, dim)
        self.n = n

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """The mask so far, less as many channels."""
        others = [dim for dim in range(t.ndim) if dim != self.dim % t.ndim]
        return default_mask * self.spread(self.without_least(norm(t, self.n, others)), t)


def _methods(module: Any) -> list[tuple[int, Any]]:
    own = module.__dict__.get("_module_hooks")
    hooks = [] if own is None else [(number, entry[0]) for number, entry in own.before.items()]
    return [(number, hook) for number, hook in hooks if isinstance(hook, BasePruningMethod)]


def _unhook(module: Any, method: BasePruningMethod) -> None:
    (number,) = [number for number, hook in _methods(module) if hook is method]
    del module._module_hooks.before[number]


def identity(module: Any, name: str) -> Any:
    """Give a parameter a mask of ones; returns the module, as all of these do."""
    Identity.apply(module, name)
    return module


def random_unstructured(module: Any, name: str, amount: float) -> Any:
    """Prune elements of a parameter at random: `amount` of them, or that fraction."""
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module: Any, name: str, amount: float, importance_scores: Any = None) -> Any:
    """Prune the elements of a parameter of the least absolute values: `amount` of them, or that fraction."""
    L1Unstructured.apply(module, name, amount, importance_scores=importance_scores)
    return module


def random_structured(module: Any, name: str, amount: float, dim: int) -> Any:
    """Prune channels of a parameter along `dim` at random: `amount` of them, or that fraction."""
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(module: Any, name: str, amount: float, n: Any, dim: int, importance_scores: Any = None) -> Any:
    """Prune the channels of a parameter along `dim` of the least norms of order n: `amount`, or that fraction."""
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module: Any, name: str, mask: Any) -> Any:
    """Prune the elements of a parameter where `mask` is 0."""
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(
    parameters: Sequence[tuple[Any, str]], pruning_method: Any, importance_scores: Any = None, **kwargs: Any
) -> None:
    """Prune several parameters as if they were one.

    Args:
        parameters: Modules, each with the name of a parameter.
        pruning_method: A class of methods for elements.
        importance_scores: By (module, name), by what to choose in the place of the values.
        **kwargs: What the method takes.

    Raises:
        TypeError: The method is not for elements, or `parameters` is no list of such pairs.
    """
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    pairs = list(parameters)
    method = PruningContainer()
    method._tensor_name = "temp"
    single = pruning_method(**kwargs)
    single._tensor_name = "temp"
    if single.PRUNING_TYPE != "unstructured":
        raise TypeError(
            'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. '
            f"Found method {pruning_method} of type {single.PRUNING_TYPE}"
        )
    method.add_pruning_method(single)
    told = importance_scores or {}
    scores = [told.get((module, name), getattr(module, name)).detach() for module, name in pairs]
    masks = [
        getattr(module, f"{name}_mask", ones_like(score)) for (module, name), score in zip(pairs, scores, strict=True)
    ]
    whole = method.compute_mask(cat([score.reshape(-1) for score in scores]), cat([mask.reshape(-1) for mask in masks]))
    sizes = [score.numel() for score in scores]
    for (module, name), score, part in zip(pairs, scores, whole.split(sizes), strict=True):
        custom_from_mask(module, name, part.reshape(score.shape))


def remove(module: Any, name: str) -> Any:
    """Make a pruned parameter an ordinary one, as it is now.

    Raises:
        ValueError: It is not pruned.
    """
    for _, method in _methods(module):
        if method._tensor_name == name:
            method.remove(module)
            _unhook(module, method)
            return module
    raise ValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed")


def is_pruned(module: Any) -> bool:
    """Whether a parameter of a module, or of one inside it, is pruned."""
    return any(_methods(part) for part in module.modules())
