"""The one file of a page: its data, its program and its looks, and a policy that lets nothing else run or load."""

from __future__ import annotations

import json
from html import escape
from importlib.resources import files
from typing import Any, Final

from graphscope.exporters.content_policy import source_of

__all__ = ["asset", "document"]

_POLICY: Final = (
    "default-src 'none'; script-src '{script}'; style-src '{style}'; img-src data:; base-uri 'none'; form-action 'none'"
)
_DOCUMENT: Final = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<noscript>This page draws its picture by a script of its own, and scripts are off here. It loads nothing and sends
nothing: allow them, or draw the same with <code>graphscope export -o graph.svg</code>.</noscript>
<script type="application/json" id="recording">{data}</script>
<script>{script}</script>
</body>
</html>
"""


def document(data: dict[str, Any]) -> str:
    """The page of some data."""
    script, style = asset("page.js") + "graphscopePage.openDocument();", asset("page.css")
    policy = _POLICY.format(script=source_of(script), style=source_of(style))
    return _DOCUMENT.format(
        policy=escape(policy), title=escape(data["title"]), style=style, script=script, data=harmless(data)
    )


def harmless(data: dict[str, Any]) -> str:
    """JSON that no text in it can end or turn into markup."""
    text = json.dumps(data, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").encode("utf-8", "replace").decode()


def asset(name: str) -> str:
    """One of the files that `make page` makes."""
    return files("graphscope.exporters").joinpath(f"assets/{name}").read_text(encoding="utf-8")
