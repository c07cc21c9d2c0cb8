"""Gradients under the names that PyTorch's users look for."""

from __future__ import annotations

from graphscope.engine.absent import answer_for as _answer_for
from graphscope.engine.autograd import functional as functional
from graphscope.engine.autograd import graph as graph
from graphscope.engine.core.anomaly import detect_anomaly as detect_anomaly
from graphscope.engine.core.anomaly import is_anomaly_enabled as is_anomaly_enabled
from graphscope.engine.core.anomaly import set_detect_anomaly as set_detect_anomaly
from graphscope.engine.core.custom_function import Function as Function
from graphscope.engine.core.gradcheck import gradcheck as gradcheck
from graphscope.engine.core.gradcheck import gradgradcheck as gradgradcheck
from graphscope.engine.core.gradients import backward_of
from graphscope.engine.core.gradients import grad as grad
from graphscope.engine.core.modes import enable_grad as enable_grad
from graphscope.engine.core.modes import inference_mode as inference_mode
from graphscope.engine.core.modes import is_grad_enabled as is_grad_enabled
from graphscope.engine.core.modes import no_grad as no_grad
from graphscope.engine.core.modes import set_grad_enabled as set_grad_enabled
from graphscope.engine.core.tensor import Tensor

backward = backward_of
Variable = Tensor

_answer_for(__name__)
