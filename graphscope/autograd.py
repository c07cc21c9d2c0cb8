"""Gradients under the name that PyTorch's users look for."""

from __future__ import annotations

from graphscope.engine.gradcheck import gradcheck as gradcheck
from graphscope.engine.gradcheck import gradgradcheck as gradgradcheck
from graphscope.engine.gradients import grad as grad
from graphscope.engine.modes import enable_grad as enable_grad
from graphscope.engine.modes import is_grad_enabled as is_grad_enabled
from graphscope.engine.modes import no_grad as no_grad
from graphscope.engine.modes import set_grad_enabled as set_grad_enabled
