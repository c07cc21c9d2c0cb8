"""Themes: dark, light, and high contrast."""

from __future__ import annotations

from typing import Final

from textual.theme import Theme

THEMES: Final[tuple[Theme, ...]] = (
    Theme(
        "graphscope-dark",
        primary="#6cb6ff",
        secondary="#7ee0c6",
        accent="#ff9ecf",
        warning="#ffc66d",
        error="#ff6b6b",
        success="#8bd49c",
        foreground="#d7dde6",
        background="#11151c",
        surface="#161b24",
        panel="#1e2531",
        variables={
            "forward": "#58b8d8",
            "backward": "#ff8ac4",
            "leaf": "#8bd49c",
            "muted": "#6f7c90",
            "faint": "#66738a",
            "cursor-row": "#26405e",
            "border": "#2c3646",
            "footer-key-foreground": "#6cb6ff",
            "input-selection-background": "#26405e",
        },
    ),
    Theme(
        "graphscope-light",
        primary="#0b62b0",
        secondary="#0a7c66",
        accent="#b01870",
        warning="#9a6200",
        error="#c01818",
        success="#23783a",
        foreground="#20262e",
        background="#fbfaf7",
        surface="#f4f2ec",
        panel="#e9e6dd",
        dark=False,
        variables={
            "forward": "#0b7896",
            "backward": "#b01870",
            "leaf": "#23783a",
            "muted": "#646d79",
            "faint": "#8d949d",
            "cursor-row": "#cfe3f7",
            "border": "#cbc6b8",
            "footer-key-foreground": "#0b62b0",
            "input-selection-background": "#cfe3f7",
        },
    ),
    Theme(
        "graphscope-contrast",
        primary="#00ffff",
        secondary="#00ff88",
        accent="#ff66ff",
        warning="#ffff00",
        error="#ff5555",
        success="#00ff00",
        foreground="#ffffff",
        background="#000000",
        surface="#000000",
        panel="#000000",
        variables={
            "forward": "#00ffff",
            "backward": "#ff88ff",
            "leaf": "#00ff66",
            "muted": "#e0e0e0",
            "faint": "#bbbbbb",
            "cursor-row": "#002a99",
            "border": "#ffffff",
            "footer-key-foreground": "#ffff00",
            "input-selection-background": "#002a99",
            "syntax": "plain",
            "text-disabled": "#d0d0d0",
        },
    ),
)
"""The first is what the app begins with."""
