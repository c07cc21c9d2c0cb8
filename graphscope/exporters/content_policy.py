"""Content security policies: a page says by their hashes which scripts and styles are its own."""

from __future__ import annotations

import base64
import hashlib


def source_of(text: str) -> str:
    """How a policy names a script or a style by what it says."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
