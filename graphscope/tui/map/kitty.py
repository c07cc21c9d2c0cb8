"""The graphics protocol of kitty, by placeholders: <https://sw.kovidgoyal.net/kitty/graphics-protocol/>.

The picture is sent once and has a number; the cells that show it are characters that name the number by their colour.
"""

from __future__ import annotations

import io
import itertools
import os
from base64 import standard_b64encode
from typing import TYPE_CHECKING, Final

from graphscope.tui.map.terminal_picture import TerminalPicture

if TYPE_CHECKING:
    from PIL.Image import Image
    from textual.color import Color

_PLACEHOLDER: Final = "\U0010eeee"
_CHUNK: Final = 4096
_MARKS: Final = (
    "305 30d-30e 310 312 33d-33f 346 34a-34c 350-352 357 35b 363-36f 483-487 592-595 597-599 59c-5a1 5a8-5a9 "
    "5ab-5ac 5af 5c4 610-617 657-65b 65d-65e 6d6-6dc 6df-6e2 6e4 6e7-6e8 6eb-6ec 730 732-733 735-736 73a 73d "
    "73f-741 743 745 747 749-74a 7eb-7f1 7f3 816-819 81b-823 825-827 829-82d 951 953-954 f82-f83 f86-f87"
)
"""The marks that number a line, from the table of kitty: the first cell of a line bears one, the others count on."""

_ROWS: Final = "".join(
    chr(mark)
    for first, _, last in (part.partition("-") for part in _MARKS.split())
    for mark in range(int(first, 16), int(last or first, 16) + 1)
)
MOST: Final = len(_ROWS)
"""Lines that a picture can have."""

_numbers: Final = itertools.count((os.getpid() & 0xFFFF) << 8 | 1)
"""Other programs may have shown pictures in the same terminal."""


def show(picture: Image, columns: int, rows: int, colours: int, paper: Color) -> TerminalPicture:
    """Placeholders in the colour that is the number of the picture."""
    number = next(_numbers) & 0xFFFFFF
    inks = ";".join(map(str, (number >> 16, number >> 8 & 255, number & 255, 48, 2, *paper.rgb)))
    return TerminalPicture(
        tuple(
            f"\x1b[38;2;{inks}m{_PLACEHOLDER}{mark}{_ROWS[0]}{_PLACEHOLDER * (columns - 1)}" for mark in _ROWS[:rows]
        ),
        _sent(picture, number, columns, rows),
        f"\x1b_Ga=d,d=I,q=2,i={number}\x1b\\",
    )


def _sent(picture: Image, number: int, columns: int, rows: int) -> str:
    """What gives the terminal a picture under a number, to be shown in so many cells."""
    file = io.BytesIO()
    picture.save(file, "png", compress_level=1)
    code = standard_b64encode(file.getvalue()).decode("ascii")
    parts = [code[start : start + _CHUNK] for start in range(0, len(code), _CHUNK)]
    about = [f"a=T,U=1,f=100,q=2,i={number},c={columns},r={rows},", *[""] * (len(parts) - 1)]
    more = [1] * (len(parts) - 1) + [0]
    return "".join(f"\x1b_G{what}m={m};{part}\x1b\\" for what, m, part in zip(about, more, parts, strict=True))
