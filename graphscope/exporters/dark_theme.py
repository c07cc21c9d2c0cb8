"""Pictures on a dark page: for each colour that they have on paper another one, as rules of a style sheet."""

from __future__ import annotations

from typing import Final

__all__ = ["DARK", "PAINTS"]

DARK: Final = {
    "white": "#14181f", "#fafbfc": "#191e27", "#1f2937": "#e5e7eb", "#111827": "#f3f4f6", "#374151": "#cbd5e1",
    "#6b7280": "#9aa4b2", "#4b5563": "#a3adba", "#9aa1ac": "#6b7482", "#c3c8d0": "#4b5563", "#d5d9e0": "#3a4250",
    "#e5e7eb": "#2b323d", "#f3f4f6": "#262c36", "#e6effb": "#1c2f47", "#3a6ea5": "#7fb0e6", "#fdf3d7": "#3b3115",
    "#a97a1c": "#e0b65c", "#fbeae7": "#41241e", "#b4533c": "#f09a84", "#e9f5ec": "#1b3325", "#3f7f56": "#7cc797",
    "#fde2e2": "#4a1d1d", "#c81e1e": "#ff8a8a", "#7a4fb5": "#b79bec", "#fbe4d8": "#47291a", "#d55e00": "#f59a5a",
    "#fff3cf": "#3d3414", "#a97c00": "#e4bb4a", "#d9eaf6": "#16334a", "#0072b2": "#6bbcf0", "#ead9ee": "#38233f",
    "#7b3294": "#cf94e4", "#d97706": "#f5a742", "#1d4ed8": "#8ab4ff", "#b45309": "#f0a35c", "#fdebd0": "#41301a",
    "#dbe9fd": "#1b2c52",
}  # fmt: skip
"""The colours of pictures on paper, and on a dark page."""

PAINTS: Final = "".join(
    f'[fill="{light}"]{{fill:{dark}}}[stroke="{light}"]{{stroke:{dark}}}' for light, dark in DARK.items()
)
"""The rules: they change what is drawn of an SVG within a page, and nothing else."""
