"""Pictures on a dark page: every colour has another one, and what is written can be read."""

from __future__ import annotations

import inspect
import re
from types import ModuleType

import pytest

from graphscope.exporters import box_styles
from graphscope.exporters.dark_theme import DARK
from graphscope.exporters.views import memory_drawing, neuron_drawing, pass_strip

ON_BOTH = set(memory_drawing._COLOURS)
"""Areas of a chart, which are neither light nor dark."""


def luminance(colour: str) -> float:
    """How light a colour is, as WCAG 2 reckons it."""
    text = {"white": "#ffffff"}.get(colour, colour)
    parts = [int(text[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """From 1 to 21."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("module", [box_styles, memory_drawing, neuron_drawing, pass_strip], ids=lambda it: it.__name__)
def test_every_colour_of_pictures_has_one_for_the_dark(module: ModuleType) -> None:
    used = set(re.findall(r'"(#[0-9a-f]{6})"', inspect.getsource(module)))
    assert used - ON_BOTH <= DARK.keys()


FILLS = sorted({each["fillcolor"] for each in [*box_styles.BOXES.values(), *box_styles.CHANGED.values(),
                *box_styles.COMPARED.values(), *box_styles.CLUSTER.values()]
                if "fillcolor" in each and each.get("fixedsize") != "true"})  # fmt: skip


@pytest.mark.parametrize("fill", FILLS)
def test_what_is_written_in_a_box_can_be_read_in_both(fill: str) -> None:
    assert contrast(fill, box_styles.INK) >= 7
    assert contrast(DARK[fill], DARK[box_styles.INK]) >= 7
    for small in (box_styles.GRADIENT, box_styles.FAINT):
        if fill in ("#e6effb", "#f3f4f6", "white"):
            assert contrast(DARK[fill], DARK[small]) >= 4.5
