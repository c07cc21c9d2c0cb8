"""A picture as an HTML page: one file without a script, light or dark as the reader has it."""

from __future__ import annotations

from html import escape
from typing import Final

from graphscope.exporters.content_policy import source_of
from graphscope.exporters.dark_theme import DARK, PAINTS
from graphscope.exporters.dot_syntax import printable
from graphscope.exporters.svg import embedded

__all__ = ["figure_page"]

_STYLE: Final = f"""
:root {{ color-scheme: light dark; }}
body {{ margin: 0; padding: 1rem; background: white; }}
svg {{ display: block; max-width: 100%; height: auto; margin: 0 auto; }}
@media (prefers-color-scheme: dark) {{ body {{ background: {DARK["white"]}; }} {PAINTS} }}
@media (max-width: 640px) {{ svg {{ max-width: none; }} body {{ overflow-x: auto; }} }}
"""
_POLICY: Final = "default-src 'none'; style-src '{}'; base-uri 'none'; form-action 'none'"
_PAGE: Final = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
{picture}
</body>
</html>
"""


def figure_page(picture: str, title: str) -> str:
    """The page of an SVG."""
    policy = _POLICY.format(source_of(_STYLE))
    return _PAGE.format(policy=escape(policy), title=escape(printable(title)), style=_STYLE, picture=embedded(picture))
