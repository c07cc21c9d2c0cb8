"""What is changed in TensorFlow while it is recorded: each part of the adapter says what it replaces."""

from __future__ import annotations

from tensorflow.python.eager import imperative_grad
from tensorflow.python.eager.polymorphic_function import polymorphic_function

from graphscope.adapters.kit.late_arrays import tell_late
from graphscope.adapters.kit.patches import Patches, Replaced
from graphscope.adapters.tensorflow import session as sessions
from graphscope.adapters.tensorflow.custom_gradients import CustomGradients
from graphscope.adapters.tensorflow.eager_ops import EagerOps
from graphscope.adapters.tensorflow.functions import Functions
from graphscope.adapters.tensorflow.gradients import Gradients, leave_rules
from graphscope.adapters.tensorflow.session import Session
from graphscope.adapters.tensorflow.sessions import Sessions
from graphscope.adapters.tensorflow.variables import Variable, Variables
from graphscope.eventlog.foreign_tensors import TENSOR_READERS, TensorReader
from graphscope.eventlog.writer import Writer


class TensorFlowPatches(Patches):
    """All of it."""

    def __init__(self, writer: Writer) -> None:
        super().__init__("TensorFlow")
        self._writer = writer
        self._session = Session(writer)

    def install(self) -> None:
        session = self._session
        sessions.current = session
        self.at_end(lambda: setattr(sessions, "current", None))
        tell_late(self._writer, self)
        TENSOR_READERS["tensorflow"] = TensorReader(session.row, session.array)
        session.variables, gradients = Variables(session), Gradients(session)
        self._gradients = gradients
        eager = (
            session.variables,
            EagerOps(session),
            gradients,
            CustomGradients(session, gradients),
            Functions(session),
        )
        for part in (*eager, Sessions(session.tape)):
            part.install(self)

    def suspend(self) -> None:
        """Let TensorFlow run as it is until `resume`, but for the calls of functions, which may make steps."""
        super().suspend()
        leave_rules()
        self._session.is_left_out = True

    def resume(self) -> None:
        """See again what it does; variables have had other values in between."""
        self._session.is_left_out = False
        self._session.variables.forget_all()
        self._gradients.see_rules()
        super().resume()

    def stays(self, replaced: Replaced) -> bool:
        """What calls functions does, what begins passes, and what learns of variables."""
        return replaced.owner in (polymorphic_function.Function, imperative_grad, Variable)
