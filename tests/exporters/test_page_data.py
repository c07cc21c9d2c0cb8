"""The page of a graph: what goes into the file, and what can't come out of it."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphscope as gs
from graphscope.errors import ExportError
from graphscope.eventlog.reader import Log
from graphscope.exporters.export import export
from graphscope.exporters.page.value_samples import picture
from graphscope.exporters.view_selection import Choice, selected_view
from graphscope.graph.view import GraphView

ROOT = Path(__file__).parents[2]
ASSETS = ROOT / "graphscope/exporters/assets"


def data_of(page: str) -> Any:
    found = re.search(r'<script type="application/json" id="recording">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def trained() -> None:
    gs.manual_seed(0)
    model = gs.nn.Sequential(gs.nn.Linear(4, 3), gs.nn.Tanh(), gs.nn.Linear(3, 2))
    optimizer = gs.optim.SGD(model.parameters(), lr=0.1)
    x = gs.randn(5, 4)
    for _ in range(3):
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()


def test_columns_say_what_the_view_says(product: GraphView) -> None:
    data = data_of(str(export(product, format="html")))
    nodes, strings = data["nodes"], data["strings"]
    assert [strings[number] for number in nodes["label"]] == [node.label for node in product.nodes]
    assert nodes["row"] == [0, 1, 2, 4, 5, 6]
    assert nodes["forward"] == [-1, -1, -1, 2, 0, 1]
    edges = data["edges"]
    assert list(zip(edges["source"], edges["target"], edges["gradient"], strict=True)) == [
        (0, 2, 0), (1, 2, 0), (3, 4, 1), (3, 5, 1),
    ]  # fmt: skip


@pytest.mark.slow
def test_a_training_is_told_step_by_step(recorded: Callable[[Callable[[], Any]], Log]) -> None:
    log = recorded(trained)
    data = data_of(str(export(log, format="html")))
    steps = [section for section in data["sections"] if section["is_step"]]
    begins = [each for each in log.graph.nodes if each.op == "mean" and each.graph_pass == "forward"]
    assert [step["loss"] for step in steps] == [pytest.approx(float(each.value), rel=1e-4) for each in begins]
    assert [data["nodes"]["row"][step["root"]] for step in steps] == [each.row for each in begins]
    types = {data["strings"][number] for number in data["calls"]["type"]}
    assert {"Linear", "Tanh"} <= types
    parameters = {node.tensor for node in log.graph.nodes if node.kind == "leaf" and node.flags & node.flags.PARAMETER}
    rows, roles = data["nodes"]["row"], data["nodes"]["role"]
    updated = {
        log.event(row).tensor for row, role in zip(rows, roles, strict=True) if role == 2 and log.event(row).version
    }
    assert updated == parameters


def test_a_gradient_of_several_ways_is_told_with_its_sum(recorded: Callable[[Callable[[], Any]], Log]) -> None:
    seen = []

    def program() -> None:
        x = gs.tensor([3.0, -1.0], requires_grad=True)
        for time in range(3):
            if time == 2:
                x.grad = None
            (2 * x * x**2).sum().backward()
            seen.append(x.grad.numpy().copy())

    data = data_of(str(export(recorded(program), format="html", step="all")))
    sums = data["sums"]
    ends = [np.frombuffer(base64.b64decode(sums["data"]), "<f4", 2, place) for place in sums["place"]]
    assert seen[0].tolist() == [54.0, 6.0]  # 6x²
    np.testing.assert_array_equal([ends[0], ends[2], ends[3]], seen)


def test_of_a_long_log_a_part_is_to_be_chosen(recorded: Callable[[Callable[[], Any]], Log]) -> None:
    log = recorded(trained)
    with pytest.raises(ExportError, match="nodes are too many") as caught:
        selected_view(log, Choice(), is_whole=True, most=len(log.graph.nodes) - 1)
    proposal = re.search(r"--step (\d+) .* one of (\d+) training steps, (\d+) nodes", caught.value.hint or "")
    assert proposal is not None
    step, _, count = map(int, proposal.groups())
    chosen = selected_view(log, Choice(step=step), is_whole=True, most=count)
    assert 0 < sum(len(node.rows) for node in chosen.nodes if node.kind != "leaf") <= count


def test_of_a_long_log_without_steps_what_surrounds_its_end_is_proposed(
    recorded: Callable[[Callable[[], Any]], Log],
) -> None:
    def program() -> None:
        x = gs.ones(2)
        for _ in range(60):
            x = x + 1

    log = recorded(program)
    with pytest.raises(ExportError, match="61 nodes are too many") as caught:
        selected_view(log, Choice(), is_whole=True, most=30)
    proposal = re.search(r'--select "(#\d+)" --radius (\d+)', caught.value.hint or "")
    assert proposal is not None
    chosen = Choice(select=proposal[1], radius=int(proposal[2]))
    assert len(selected_view(log, chosen, is_whole=True, most=30).nodes) == 21


def test_a_graph_that_is_no_recording_is_a_page_too() -> None:
    x = gs.tensor([1.0, 2.0], requires_grad=True)
    data = data_of(str(export((x * x).sum(), format="html")))
    assert {data["strings"][number] for number in data["nodes"]["op"]} >= {"mul", "sum"}
    assert data["samples"]["data"] == ""


def test_text_of_a_program_ends_nothing(product: GraphView) -> None:
    evil = "</script><img src=x onerror=alert(1)><!--\u202eabc\u200b"
    view = replace(product, nodes=(replace(product.nodes[0], name=evil, label=evil), *product.nodes[1:]))
    page = str(export(view, format="html", title=evil))
    assert page.count("</script>") == 2
    assert "\u202e" not in page
    assert "\u200b" not in page
    assert "<img" not in page.partition("<noscript>")[2].partition("<script>")[0]
    data = data_of(page)
    assert data["strings"][data["nodes"]["label"][0]] == evil.replace("\u202e", "\\u202e").replace("\u200b", "\\u200b")


def test_the_policy_names_what_is_in_the_page(product: GraphView) -> None:
    page = str(export(product, format="html"))
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    for tag, directive in (("style", "style-src"), ("script", "script-src")):
        text = page.rpartition(f"<{tag}>")[2].partition(f"</{tag}>")[0]
        hashed = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{directive} &#x27;sha256-{hashed}&#x27;" in policy[1]
    assert policy[1].startswith("default-src &#x27;none&#x27;")


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(3,), (2, 3, 4), (40, 50), (100_000,), (1, 3000), ()])
def test_a_picture_has_the_numbers_of_the_value(shape: tuple[int, ...]) -> None:
    value = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    made = picture(value, 32)
    assert made is not None
    if made.is_exact:
        assert np.array_equal(np.frombuffer(made.data, "<f4"), value.reshape(-1))
        return
    assert max(made.rows, made.columns) <= 32
    levels = np.frombuffer(made.data, np.uint8)[: made.rows * made.columns]
    told = made.low + levels / 250 * (made.high - made.low)
    apart = np.abs(told[:, None] - value.reshape(-1)[None, :]).min(1)
    assert apart.max() <= (made.high - made.low) / 500 * 1.01
    assert (made.low, made.high) == (value.min(), value.max())


@pytest.mark.slow
def test_values_take_no_more_than_the_budget(recorded: Callable[[Callable[[], Any]], Log]) -> None:
    log = recorded(trained)
    told = data_of(str(export(log, format="html", values=1000)))["samples"]
    assert 0 < len(told["data"]) <= 1000
    assert told["left_out"] > 0
    assert data_of(str(export(log, format="html", values=0)))["samples"]["data"] == ""


def test_the_assets_are_of_these_sources() -> None:
    page = ROOT / "page"
    names = [*sorted(f"source/{each.name}" for each in (page / "source").iterdir()), "build.mjs", "package-lock.json"]
    hashed = hashlib.sha256()
    for name in names:
        hashed.update(f"{name}\n".encode() + (page / name).read_bytes())
    said = re.match(r"/\* .* of sources ([0-9a-f]{64});", (ASSETS / "page.js").read_text(encoding="utf-8"))
    assert said is not None
    assert said[1] == hashed.hexdigest(), "page/ has changed: `make page` makes the assets anew"
    assert "MIT" in (ASSETS / "page.LICENSE.txt").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("npm") is None, reason="no npm")
def test_the_assets_are_made_again_to_the_byte(tmp_path: Path) -> None:
    page = shutil.copytree(ROOT / "page", tmp_path / "page", ignore=shutil.ignore_patterns("node_modules"))
    out = tmp_path / "assets"
    out.mkdir()
    for words in (
        ["npm", "install", "--no-save", "--silent", "--no-audit", "--no-fund"],
        ["node", "build.mjs", str(out)],
    ):
        subprocess.run(words, cwd=page, check=True, timeout=300)
    for made in out.iterdir():
        assert made.read_bytes() == (ASSETS / made.name).read_bytes(), made.name
    assert {made.name for made in out.iterdir()} == {"page.js", "page.css", "page.LICENSE.txt"}


def test_of_a_run_too_long_to_be_judged_along_the_page_says_so(
    recorded: Callable[[Callable[[], Any]], Log], monkeypatch: pytest.MonkeyPatch
) -> None:
    def spoilt() -> None:
        gs.zeros(2, requires_grad=True).log().sum().backward()

    log = recorded(spoilt)
    (judged,) = [each for each in data_of(str(export(log, format="html")))["findings"] if each["node"] >= 0]
    assert "log of 0" in judged["verdict"]
    monkeypatch.setattr("graphscope.exporters.page.finding_entries._MOST_ROWS", len(log) - 1)
    (told,) = data_of(str(export(log, format="html")))["findings"]
    assert (told["node"], told["verdict"]) == (-1, f"not judged: the run has more than {len(log) - 1:,} rows")
    assert told["cure"] == f"graphscope doctor {log.path}"
