"""A signature that tells a person's own files from what came with a log of somebody else: these may hold Python."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Final

_SIZE: Final = 32


def signature(text: str) -> str:
    """What shows that a text was written by this person; empty where no key can be kept."""
    try:
        key = _key()
    except (OSError, RuntimeError):  # there is no home, or it can't be written to
        return ""
    import hmac  # it takes as long to load as all else of this that a screen needs

    return hmac.new(key, text.encode("utf-8", "surrogatepass"), "sha256").hexdigest() if len(key) == _SIZE else ""


def is_own(text: str, signed: object) -> bool:
    """Whether this person has signed a text."""
    import hmac

    return isinstance(signed, str) and bool(signed) and hmac.compare_digest(signature(text).encode(), signed.encode())


def _key() -> bytes:
    """A secret of this person's, made when it is needed first."""
    folder = Path(os.environ.get("XDG_STATE_HOME") or "~/.local/state").expanduser() / "graphscope"
    file = folder / "signature.key"
    if not file.exists():
        import secrets

        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        made = folder / f"{file.name}-{secrets.token_hex(8)}"
        made.touch(mode=0o600)
        try:
            made.write_bytes(secrets.token_bytes(_SIZE))
            with contextlib.suppress(FileExistsError):  # another process was quicker
                file.hardlink_to(made)
        finally:
            made.unlink()
    return file.read_bytes()
