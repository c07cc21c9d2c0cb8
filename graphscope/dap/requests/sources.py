"""Requests about source files, as they were when the program ran."""

from __future__ import annotations

from graphscope.dap.adapter import Adapter
from graphscope.dap.protocol import Arguments, RequestError
from graphscope.dap.request_table import Body, request
from graphscope.dap.stack_frames import source_of


@request("loadedSources", "supportsLoadedSourcesRequest")
async def loaded_sources(adapter: Adapter, arguments: Arguments) -> Body:
    """The files that nodes were made in."""
    log = adapter.need_session().debugger.log
    return {"sources": [source_of(log, file) for file in _files(adapter)]}


@request("source")
async def source(adapter: Adapter, arguments: Arguments) -> Body:
    """The text of a file, from the log."""
    number = arguments.number("sourceReference", 0) or arguments.object("source").number("sourceReference", 0)
    files = _files(adapter)
    file = files[number - 1] if 1 <= number <= len(files) else arguments.object("source").text("path", "")
    text = adapter.need_session().debugger.log.source(file) if file else None
    if text is None:
        raise RequestError(f"The source of {file or f'number {number}'} was not recorded")
    return {"content": text, "mimeType": "text/x-python"}


def _files(adapter: Adapter) -> list[str]:
    table = adapter.need_session().debugger.log.table("sources")
    return [str(entry.get("file")) if isinstance(entry, dict) else "" for entry in table]
