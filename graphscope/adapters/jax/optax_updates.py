"""optax, on top of JAX: its updates end training steps."""

from __future__ import annotations

import optax

from graphscope.adapters.jax import updates

_attachment = updates.attachment("optax", optax)
attach, detach = _attachment.attach, _attachment.detach
suspend, resume = _attachment.suspend, _attachment.resume
