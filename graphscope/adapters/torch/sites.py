"""Call sites: where in the program a function of torch was called, and the templates of the rows that come of it."""

from __future__ import annotations

import os
import weakref
from collections.abc import Sequence
from importlib.util import find_spec
from types import FrameType
from typing import TYPE_CHECKING, Any, Final

import torch

from graphscope.adapters.kit.frames import Frames
from graphscope.adapters.torch import tensor_base
from graphscope.adapters.torch.calls import Call
from graphscope.adapters.torch.context import Context
from graphscope.adapters.torch.describing import Given
from graphscope.adapters.torch.dtypes import log_dtype
from graphscope.adapters.torch.hooks import hook_of
from graphscope.adapters.torch.known_tensors import version_of
from graphscope.adapters.torch.tensor_elements import is_remote
from graphscope.adapters.torch.tensor_properties import requires_grad, shape_of
from graphscope.adapters.torch.values import Keeping
from graphscope.eventlog.places import site_number
from graphscope.eventlog.schema import Flag, Kind, Pass
from graphscope.eventlog.template import PLACE

if TYPE_CHECKING:
    from graphscope.adapters.torch.session import Session

PREPARING: Final = frozenset(
    {
        "__init__", "reset_parameters", "_reset_parameters", "__setstate__", "_call_with_frames_removed",
        "_rebuild_tensor", "_rebuild_tensor_v3",
    }
)  # fmt: skip
"""Functions of torch that make modules and fill their parameters, that read tensors from a file or another process, and
the one of Python's that imports torch's own files: some of them compute.
"""


class TorchFrames(Frames):
    """Tells the program's frames from those of torch and graphscope."""

    def __init__(self) -> None:
        super().__init__([torch])
        trees = find_spec("optree")  # by which torch goes through nested arguments, where it is installed
        self._folders += tuple(f"{each}{os.sep}" for each in (trees and trees.submodule_search_locations) or ())
        self._computing = f"{torch.__file__.rpartition('__init__')[0]}distributions{os.sep}"
        """Where what is made is made by computing: that is shown."""

    def prepares(self, frame: FrameType) -> bool:
        """Whether torch is at work on a module that is not called: making it, filling its parameters."""
        inner: FrameType | None = frame
        while inner is not None and self.inside.get(id(inner.f_code)):
            if inner.f_code.co_name in PREPARING and not inner.f_code.co_filename.startswith(self._computing):
                return True
            inner = inner.f_back
        return False


class Fields:
    """What the rows of one variant of a call site share, forward and backward."""

    __slots__ = (
        "_dtype", "_elsewhere", "_forms", "_session", "base", "line", "named", "pairs", "part", "several", "single",
        "start", "thread", "triples",
    )  # fmt: skip

    def __init__(
        self, session: Session, line: str, base: dict[str, Any], dtype: torch.dtype | None = None, thread: int = 0
    ) -> None:
        self._session = session
        self._dtype = dtype
        self._forms: dict[Any, Keeping] = {}
        self._elsewhere: dict[int, Fields] = {}
        self.thread = thread or session.writer.thread()
        """The number of the thread whose passes the backward rows are of; the one that calls unless it is given."""
        self.line = line
        self.base = base
        self.start = self.gradient(0)
        """Of the GRAD row of a node that the pass begins at."""
        self.single = self.gradient(1)
        self.named: dict[str, list[Keeping]] = {}
        """Of the GRAD rows with one input of nodes that are one of several of the call, by their names."""
        self.part: list[Keeping] = []
        """Of the ACCUMULATE rows of one of several contributions that were met, by their shapes and dtypes."""

        self.pairs: list[Keeping] = []
        self.triples: list[Keeping] = []
        """Of the GRAD rows of cotangents that are the sum of two and of three contributions."""
        self.several: list[Keeping] = []
        """Of the GRAD rows of nodes with several slots that are the call's own, by the number of their inputs."""

    def gradient(self, count: int, like: torch.Tensor | None = None, rule: str = "", several: bool = False) -> Keeping:
        """The template of the GRAD row of this call with so many inputs.

        Args:
            count: How many rows the cotangent came from.
            like: A cotangent of another shape or dtype than the call's result.
            rule: The name of a backward node that is one of several of the call.
            several: Whether the node has several slots.
        """
        return self._form(Kind.GRAD, count, like, rule, several)

    def of(self, thread: int) -> Fields:
        """The same for passes of another thread than the one that called."""
        if thread == self.thread:
            return self
        found = self._elsewhere.get(thread)
        if found is None:
            found = self._elsewhere[thread] = Fields(self._session, self.line, self.base, self._dtype, thread)
        return found

    def partial(self, count: int, like: torch.Tensor | None = None) -> Keeping:
        """The template of an ACCUMULATE row: one of several contributions to a cotangent of this call."""
        return self._form(Kind.ACCUMULATE, count, like, "", False)

    def _form(self, kind: Kind, count: int, like: torch.Tensor | None, rule: str, several: bool) -> Keeping:
        shape = self.base["shape"] if like is None else shape_of(like)
        dtype = self.base["dtype"] if like is None else log_dtype(tensor_base.dtype(like))
        key = (kind, count, shape, dtype, rule, several)
        found = self._forms.get(key)
        if found is None:
            fields = {**self.base, "shape": shape, "dtype": dtype, "several": several, "thread": self.thread}
            if kind is Kind.ACCUMULATE:
                fields.update(op=0, attrs=0)
            elif rule:
                fields.update(op=self._session.op_number(rule), attrs=0)
            template = self._session.writer.template(kind, graph_pass=Pass.BACKWARD, input_count=count, **fields)
            found = self._forms[key] = Keeping(template)
            found.shape = torch.Size(shape)
            found.dtype = self._dtype if like is None else tensor_base.dtype(like)
            if count == 1 and kind is Kind.ACCUMULATE:
                self.part.append(found)
            elif several and not rule:
                found.count = count
                self.several.append(found)
            elif count in (2, 3) and kind is Kind.GRAD and not rule and not several:
                (self.pairs if count == 2 else self.triples).append(found)
            elif rule and kind is Kind.GRAD and count == 1 and not several:
                self.named.setdefault(rule, []).append(found)
        return found


class CallSite(Keeping):
    """The template of a call's rows at one place of the program, for results of one kind."""

    __slots__ = ("numbers", "places", "shapes")

    def __init__(
        self,
        session: Session,
        call: Call,
        frame: FrameType,
        context: Context,
        result: torch.Tensor | None,
        given: Given,
        told: dict[str, Any],
        *,
        count: int,
        numbers: Sequence[int] = (),
        places: Sequence[int] = (),
        flags: Flag = Flag(0),
        kind: Kind = Kind.OP,
        several: bool = False,
    ) -> None:
        writer = session.writer
        if result is not None and is_remote(result):
            session.meets_remote(tensor_base.device(result))
        if hook := hook_of(frame, is_in_engine=session.places.here.is_entered):
            told = {**told, "hook": hook}
        self.code = weakref.ref(frame.f_code)
        self.numbers = numbers
        """The bits of the numbers of the call that it was made for, and which of them vary."""
        self.places = places
        self.shapes: Any = None
        """Of several results; None where there is one."""
        self.beside: list[Any] = []
        self.count = count
        self.dtype = None if result is None else tensor_base.dtype(result)
        self.requires_grad = result is not None and requires_grad(result)
        base: dict[str, Any] = {
            "op": session.op_of(call, given, count, result),
            "site": site_number(writer, frame),
            "scope": context.path.number(writer),
            "shape": () if result is None else shape_of(result),
            "dtype": None if result is None else log_dtype(tensor_base.dtype(result)),
            "attrs": writer.attributes(told),
        }
        self.shape = None if result is None else torch.Size(base["shape"])
        if context.backward:
            flags |= Flag.CREATE_GRAPH if torch.is_grad_enabled() else Flag(0)
        elif not torch.is_grad_enabled():
            flags |= Flag.NO_GRAD
        if self.requires_grad:
            flags |= Flag.REQUIRES_GRAD
        fields: dict[str, Any] = {**base, "op": 0} if kind is Kind.LEAF else base
        template = writer.template(
            kind,
            flags=flags,
            graph_pass=Pass.BACKWARD if context.backward else Pass.FORWARD,
            input_count=count,
            number_count=len(places),
            several=several,
            **fields,
        )
        if result is not None and not flags & (Flag.IN_PLACE | Flag.VIEW) and version_of(result):
            session.born[template.prefix[PLACE]] = version_of(result)
        if kind is Kind.OP:
            session.callers.tell(frame, base["site"], base["attrs"], bool(flags & Flag.NO_GRAD))
        super().__init__(template)
        self.fields = Fields(session, f"{frame.f_code.co_filename}:{frame.f_lineno}", base, self.dtype)
