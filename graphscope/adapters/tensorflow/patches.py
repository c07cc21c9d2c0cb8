"""What is changed in TensorFlow while it is recorded: each part of the adapter says what it replaces."""

from __future__ import annotations

from graphscope.adapters.kit.patches import Patches
from graphscope.adapters.tensorflow import session as sessions
from graphscope.adapters.tensorflow.custom_gradients import CustomGradients
from graphscope.adapters.tensorflow.eager_ops import EagerOps
from graphscope.adapters.tensorflow.functions import Functions
from graphscope.adapters.tensorflow.gradients import Gradients
from graphscope.adapters.tensorflow.session import Session
from graphscope.adapters.tensorflow.sessions import Sessions
from graphscope.adapters.tensorflow.variables import Variables
from graphscope.eventlog.foreign_tensors import TENSOR_READERS, TensorReader
from graphscope.eventlog.writer import Writer


class TensorFlowPatches(Patches):
    """All of it."""

    def __init__(self, writer: Writer) -> None:
        super().__init__("TensorFlow")
        self._session = Session(writer)

    def install(self) -> None:
        session = self._session
        sessions.current = session
        self.at_end(lambda: setattr(sessions, "current", None))
        TENSOR_READERS["tensorflow"] = TensorReader(session.row, session.array)
        session.variables, gradients = Variables(session), Gradients(session)
        eager = (
            session.variables,
            EagerOps(session),
            gradients,
            CustomGradients(session, gradients),
            Functions(session),
        )
        for part in (*eager, Sessions(session.tape)):
            part.install(self)
