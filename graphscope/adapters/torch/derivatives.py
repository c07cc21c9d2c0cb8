"""Rules of ops that FORMULAS lacks, from the file that the installed PyTorch is made of: `derivatives.yaml`.

The file is read when the first such op is met, and one entry at a time is looked for in its text.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import torch

from graphscope.formulas.formula import NAMES, Formula

SOURCE: Final = "torchgen/packaged/autograd/derivatives.yaml"

_KEYS: Final = re.compile(r"^ +([\w, ]+): *(\S.*)$")
_NOT_DIFFERENTIABLE: Final = ("non_differentiable", "not_differentiable", "not_implemented", "Tensor()", "undef")


def derivative(name: str, arguments: Sequence[str]) -> Formula | None:
    """The rules of an op of ATen; None where the file has no entry of it.

    Args:
        name: What the log calls it.
        arguments: Its parameters: of several entries of a name the one that has these is taken.
    """
    entries = _entries(name) or _entries(name.rstrip("_"))
    if not entries:
        return None
    found = max(entries, key=lambda each: len(set(_parameters(each)) & set(arguments)))
    return _formula(found)


def derivative_of(call: str, node: str) -> Formula | None:
    """The rules of a function that runs one op of ATen which is named after it: `grid_sample` runs `grid_sampler_2d`.

    Args:
        call: What the log calls the function.
        node: What torch calls the backward node that it made: `GridSampler2DBackward0`.
    """
    camel = re.sub(r"Backward\d*$", "", node)
    for name in re.findall(r"^- name: (\w+)", _text(), re.MULTILINE):
        if name.strip("_").startswith(call) and "".join(part.title() for part in name.split("_")) == camel:
            return derivative(name, ())
    return None


@functools.cache
def _text() -> str:
    spec = find_spec("torchgen")
    folders = (spec.submodule_search_locations or []) if spec is not None else []
    file = next((Path(each).parent / SOURCE for each in folders), None)
    try:
        return file.read_text(encoding="utf-8") if file is not None else ""
    except OSError:  # a build without it
        return ""


def _entries(name: str) -> list[str]:
    """The text of each entry of an op, up to the next one."""
    found = re.finditer(rf"^- name: {re.escape(name)}[.(].*?(?=^- name: |\Z)", _text(), re.MULTILINE | re.DOTALL)
    return [each[0] for each in found]


def _parameters(entry: str) -> list[str]:
    inside = entry.partition("(")[2].partition(") ->")[0]
    return re.findall(r"(\w+)(?:=[^,]*)?(?:,|$)", inside)


def _formula(entry: str) -> Formula:
    """An entry as a formula of ours; what it computes is told by its name alone."""
    first, *lines = entry.splitlines()
    signature = first.removeprefix("- name: ")
    names = _parameters(first)
    rules: dict[str, str] = {}
    for line in lines:
        if line.strip().startswith("AutogradNestedTensor"):
            break
        found = _KEYS.match(line)
        inputs = [each.strip() for each in found[1].split(",")] if found is not None else []
        if found is None or not set(inputs) <= set(names):
            continue
        text = cleaned(found[2], names)
        if "?" in text or text.startswith(_NOT_DIFFERENTIABLE):
            continue
        for place, each in enumerate(inputs):
            rules[NAMES.get(each, each)] = f"{text}[{place}]" if len(inputs) > 1 else text
    cited = (
        f"Rules as in PyTorch {torch.__version__.partition('+')[0]}, derivatives.yaml, {signature.partition('(')[0]}."
    )
    return Formula("", rules, source=cited)


def cleaned(text: str, names: Sequence[str]) -> str:
    """A rule in PyTorch's C++ as people write it."""
    text = text.split(" # ")[0].strip().strip("\"'").strip()
    for old, new in _SPELLINGS:
        text = re.sub(old, new, text)
    for called, made in _CALLS:
        text = _replaced(text, called, made)
    text = _chosen(text)
    for name in names:
        if name in NAMES:
            text = re.sub(rf"(?<![\w.]){name}\b", NAMES[name], text)
    return " ".join(text.split())


_SPELLINGS: Final = (
    (r"/\*.*?\*/", ""), (r"->", "."), (r"\)\? ", ") ? "), (r"vector<\w+>", "vector"), (r"tuple<.*?>\(\)", ""),
    (r"\b\w+::", ""), (r"\bM_PI\b", "pi"), (r"_symint\b", ""), (r"\.sym_(size|numel|stride)\b", r".\1"),
    (r"\.(?:sym_)?sizes\(\)", ".shape"), (r"\.size\((\w+)\)", r".shape[\1]"), (r"\.sym_strides\(\)", ".stride()"),
    (r"\.conj\(\)", ""), (r"\.to\(\w+\.scalar_type\(\)\)", ""), (r"\.t\(\)", ".T"), (r", grad_input_mask\b", ""),
    (r"\bgrads\[(\d)\]", r"g[\1]"), (r"\bgrad\b", "g"), (r"\bresult(\d)\b", r"out[\1]"), (r"\bresult\b", "out"),
    (r"\b(\w+)_\(", r"\1("), (r"\{ ?([^{}]*?) ?\}", r"(\1)"), (r"\.value_or\((\w+)\)", r" or \1"),
    (r"\.has_value\(\)", " is not None"), (r"\bnullopt\b", "None"), (r"IntArrayRef\(\(\)\)", "()"),
    (r"\btrue\b", "True"), (r"\bfalse\b", "False"), (r"&&", "and"), (r"\|\|", "or"), (r"!(?=[\w(])", "not "),
    (r"\b(\d+)\.(?!\d)", r"\1"),
)  # fmt: skip
"""What C++ spells otherwise; conjugates are left out, as rules of real numbers need none."""

_CALLS: Final[tuple[tuple[str, Callable[[list[str]], str]], ...]] = (
    ("handle_r_to_c", lambda given: given[-1]),
    ("maybe_multiply", lambda given: f"{given[0]} * {given[1]}"),
    ("mul_tensor_backward", lambda given: f"{given[0]} * {given[1]}"),
    ("div_tensor_self_backward", lambda given: f"{given[0]} / {given[1]}"),
    ("div_tensor_other_backward", lambda given: f"-{given[0]} * {given[1]} / {given[2]}**2"),
    ("mm_mat1_backward", lambda given: f"{given[0]} @ {given[1]}.T"),
    ("mm_mat2_backward", lambda given: f"{given[1]}.T @ {given[0]}"),
)
"""Functions of PyTorch's own, as what they compute."""


def _chosen(text: str) -> str:
    """A text with `a if c else b` for `c ? a : b`; where `c` asks whether there is a gradient, with `a`."""
    while (mark := text.find(" ? ")) >= 0:
        begin, end = _edge(text, mark, -1), _edge(text, mark + 3, 1)
        condition, rest = text[begin:mark], text[mark + 3 : end]
        middle = _edge(rest, 0, 1, " :")
        one, other = rest[:middle].strip(), _chosen(rest[middle + 2 :].strip())
        if "GradMode" in condition or "is_xpu" in condition:
            one, other = other, ""
        lone = "defined" in condition or not other
        text = text[:begin] + (one if lone else f"{one} if {condition} else {other}") + text[end:]
    return text


def _edge(text: str, start: int, step: int, sign: str = ",") -> int:
    """Where a part of a text ends that begins at a place: at a sign, or at the bracket around it."""
    opening, closing = ("([", ")]") if step > 0 else (")]", "([")
    place, depth = (start, 0) if step > 0 else (start - 1, 0)
    conditions = 0
    while 0 <= place < len(text):
        here = text[place]
        if depth == 0 and (here in closing or (text.startswith(sign, place) and not conditions)):
            break
        conditions += (text.startswith(" ? ", place) - text.startswith(" : ", place)) * (sign == " :") * (depth == 0)
        depth += (here in opening) - (here in closing)
        place += step
    return place if step > 0 else place + 1


def _replaced(text: str, name: str, made: Callable[[list[str]], str]) -> str:
    """A text in which calls of a function are replaced by what is made of their arguments."""
    while (found := re.search(rf"\b{name}\(", text)) is not None:
        end, depth, parts = found.end(), 1, [""]
        while depth and end < len(text):
            sign = text[end]
            depth += (sign in "([{") - (sign in ")]}")
            if sign == "," and depth == 1:
                parts.append("")
            elif depth:
                parts[-1] += sign
            end += 1
        text = text[: found.start()] + made([each.strip() for each in parts]) + text[end:]
    return text
