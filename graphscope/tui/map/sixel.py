"""Sixel, the pictures of DEC's terminals: <https://vt100.net/docs/vt3xx-gp/chapter14.html>."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.tui.map.terminal_picture import TerminalPicture

if TYPE_CHECKING:
    from PIL.Image import Image
    from textual.color import Color

_BAND: Final = 6
"""Pixels that a character of the code has, one above the other."""
_EMPTY: Final = 63
"""The character that paints nothing."""
_RUN: Final = re.compile(rb"(.)\1{3,}")


def show(picture: Image, columns: int, rows: int, colours: int, paper: Color) -> TerminalPicture:
    """One image over all; text that is painted there takes it away."""
    return TerminalPicture((_encoded(picture, colours, paper),))


def _encoded(picture: Image, colours: int, paper: Color) -> str:
    pixels, palette = _reduced(picture, colours, paper)
    shares = np.round(palette * (100 / 255)).astype(int).tolist()
    names = b"".join(b"#%d;2;%d;%d;%d" % (number, *share) for number, share in enumerate(shares))
    # What is not painted is to stay as it is (1): a terminal may add lines up to a whole band.
    start = b'\x1bP0;1;0q"1;1;%d;%d' % (picture.width, picture.height)
    bands = (_band(pixels[top : top + _BAND], len(shares)) for top in range(0, picture.height, _BAND))
    return (start + names + b"-".join(bands) + b"\x1b\\").decode("ascii")


def _reduced(picture: Image, colours: int, paper: Color) -> tuple[np.ndarray, np.ndarray]:
    """The pixels as numbers of colours, and the colours: first the paper, which is most of it, as it is."""
    from PIL import Image

    exact = np.asarray(picture)
    drawn = (exact != paper.rgb).any(axis=2)
    pixels = np.zeros(drawn.shape, np.uint8)
    palette = np.array([paper.rgb])
    if drawn.any():
        others = Image.fromarray(exact[drawn][np.newaxis]).quantize(colours - 1)
        pixels[drawn] = np.asarray(others)[0] + 1
        palette = np.vstack([palette, np.reshape(others.getpalette() or [], (-1, 3))])
    return pixels, palette


def _band(pixels: np.ndarray, colours: int) -> bytes:
    """Six lines: first the commonest colour all over, then the others above it."""
    width = pixels.shape[1]
    bits = np.zeros((colours, width), np.uint8)
    everywhere = np.arange(width)
    for place, line in enumerate(pixels):
        bits[line, everywhere] |= 1 << place
    counts = np.count_nonzero(bits, axis=1)
    ground = int(np.argmax(counts))
    bits[ground] = (1 << len(pixels)) - 1
    others = [number for number in np.flatnonzero(counts).tolist() if number != ground]
    code = bits + np.uint8(_EMPTY)
    return b"$".join(b"#%d%s" % (number, _short(code[number].tobytes())) for number in (ground, *others))


def _short(code: bytes) -> bytes:
    """Code with its repetitions counted, and without what is empty at its end."""
    return _RUN.sub(lambda run: b"!%d%s" % (len(run[0]), run[1]), code.rstrip(bytes([_EMPTY])))
