"""A pseudo-terminal that answers as one that shows images does, keeps what it is told, and decodes the images."""

from __future__ import annotations

import base64
import fcntl
import io
import os
import pty
import re
import select
import shutil
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[2]
PATIENCE = 120.0
CELL = (10, 20)

SIXEL = {b"\x1b[?1;1;0S": b"\x1b[?1;0;256S", b"\x1b[?2;4;0S": b"\x1b[?2;0;1000;1000S", b"\x1b[c": b"\x1b[?62;4;22c"}
KITTY = {
    b"\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\": b"\x1b_Gi=31;OK\x1b\\",
    b"\x1b[>q": b"\x1bP>|kitty(0.40.1)\x1b\\",
    b"\x1b[c": b"\x1b[?62;c",
}
OLD_KITTY = {**KITTY, b"\x1b[>q": b"\x1bP>|kitty(0.26.5)\x1b\\"}
PLAIN = {b"\x1b[c": b"\x1b[?62;22c"}
MUTE: dict[bytes, bytes] = {}
"""What terminals answer to what they are asked: xterm as a VT340, two versions of kitty, xterm, and a mute one."""

PLACEHOLDER = "\U0010eeee"


class ImageTerminal:
    """The screen in a terminal of a kind; `size` is in characters."""

    def __init__(
        self,
        log: Path,
        home: Path,
        answers: Mapping[bytes, bytes],
        kind: str = "xterm-256color",
        size: tuple[int, int] = (80, 24),
        path: str = "",
    ) -> None:
        self.out = b""
        self._answers = answers
        self._asked = 0
        self._end, inner = pty.openpty()
        columns, rows = size
        told = struct.pack("HHHH", rows, columns, columns * CELL[0], rows * CELL[1])
        fcntl.ioctl(inner, termios.TIOCSWINSZ, told)
        environment = {"PATH": path + os.environ["PATH"], "PYTHONPATH": str(ROOT), "HOME": str(home)}
        environment |= {"LC_ALL": "C.UTF-8", "TERM": kind, "COLORTERM": "truecolor"}
        own = shutil.copytree(log, home / log.name, dirs_exist_ok=True)  # where one leaves it is kept with it
        command = [sys.executable, "-m", "graphscope", "open", str(own)]
        self.process = subprocess.Popen(
            command, stdin=inner, stdout=inner, stderr=inner, env=environment, start_new_session=True
        )
        os.close(inner)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._end)

    def press(self, keys: str) -> None:
        os.write(self._end, keys.encode())

    def until(self, true: Callable[[], object], what: str) -> None:
        """Be a terminal until something holds."""
        end = time.monotonic() + PATIENCE
        while not true():
            assert time.monotonic() < end, f"{what} has not come; last came\n{self.text[-3000:]}"
            if select.select([self._end], [], [], 0.05)[0]:
                try:
                    self.out += os.read(self._end, 1 << 16)
                except OSError:  # the other end was closed
                    self.process.wait(PATIENCE)
                    assert true(), f"{what} has not come before the end"
                    return
                self._answer()

    def _answer(self) -> None:
        """Answer questions in the order in which they were asked."""
        while True:
            places = [(self.out.find(question, self._asked), question) for question in self._answers]
            found = min((place for place in places if place[0] >= 0), default=None)
            if found is None:
                return
            self._asked = found[0] + len(found[1])
            os.write(self._end, self._answers[found[1]])

    def shows(self, text: str) -> None:
        """Wait until a text was painted."""
        self.until(lambda: text in self.text, repr(text))

    @property
    def text(self) -> str:
        """All that was painted, without codes."""
        told = re.sub(rb"\x1b[P_].*?\x1b\\", b"", self.out, flags=re.DOTALL)
        return re.sub(rb"\x1b(\[[0-9;?<>=$]*[a-zA-Z]|[78])", b"", told).decode(errors="replace")

    @property
    def sixels(self) -> list[np.ndarray]:
        """The sixel images so far."""
        return [sixel_pixels(code) for code in re.findall(rb"\x1bP[\d;]*q.*?\x1b\\", self.out, flags=re.DOTALL)]

    @property
    def kitty_images(self) -> dict[int, tuple[np.ndarray, dict[str, str]]]:
        """The images of kitty so far by their number, with what was said of them."""
        from PIL import Image

        found: dict[int, tuple[np.ndarray, dict[str, str]]] = {}
        about: dict[str, str] = {}
        code = b""
        for head, body in re.findall(rb"\x1b_G([^;\x1b]*);([^\x1b]*)\x1b\\", self.out):
            keys = dict(word.split("=") for word in head.decode().split(","))
            if keys.get("a") == "q":
                continue
            about |= keys
            code += body
            if keys.get("m", "0") == "0":
                with Image.open(io.BytesIO(base64.b64decode(code, validate=True))) as image:
                    found[int(about["i"])] = np.asarray(image.convert("RGB")), about
                about, code = {}, b""
        return found


def sixel_pixels(code: bytes) -> np.ndarray:
    """The pixels of a sixel image, as the manual of the VT340 says it is read; what was not painted is magenta."""
    head = re.match(rb'\x1bP[\d;]*q"1;1;(\d+);(\d+)', code)
    assert head is not None
    width, height = int(head[1]), int(head[2])
    pixels = np.full((-(-height // 6) * 6, width, 3), (255, 0, 255), np.uint8)
    palette: dict[int, tuple[int, ...]] = {}
    colour, x, y = 0, 0, 0
    for token in re.finditer(rb"#(\d+)(?:;2;(\d+);(\d+);(\d+))?|!(\d+)([?-~])|([$-])|([?-~])", code[head.end() : -2]):
        number, *shares = token.group(1, 2, 3, 4)
        if number is not None:
            colour = int(number)
            if shares[0] is not None:
                palette[colour] = tuple(round(int(share) * 255 / 100) for share in shares)
        elif token[7] is not None:
            x, y = 0, y + 6 * (token[7] == b"-")
        else:
            count, bits = int(token[5] or 1), (token[6] or token[8])[0] - 63
            for bit in range(6):
                if bits >> bit & 1:
                    pixels[y + bit, x : x + count] = palette[colour]
            x += count
    return pixels[:height]
