"""A finding as a person reads it: names in sentences, numbers, rows of the log, and what came of it."""

from __future__ import annotations

import json

from graphscope.debugger.json_data import from_json, to_json
from graphscope.diagnose.explanation import Explanation
from graphscope.diagnose.finding import Finding, Row, alike
from graphscope.diagnose.report_lines import lines_of_finding


def told(finding: Finding, width: int = 80) -> list[str]:
    return [line.text for line in lines_of_finding(finding, width)]


def found(**others: object) -> Finding:
    known = {"names": ("w",), "cause": "detach", "verdict": "w gets nothing", "cure": "leave it out", **others}
    return Finding("missing", "warning", 7, 7, "/nowhere/train.py", 3, **known)  # type: ignore[arg-type]


def test_a_row_is_told_as_one_and_numbers_in_few_digits() -> None:
    evidence = {"gradient": Row(69), "factor": 1.74084e-06, "elements": 16907, "share": 0.5, "worst": float("inf")}
    assert "   measured: gradient #69, factor 1.741e-06, elements 16,907, share 0.5, worst inf" in told(
        found(evidence=evidence), 100
    )


def test_a_long_message_of_an_exception_is_cut_off() -> None:
    raised = found(verdict="RuntimeError: " + "one of the variables " * 50)
    lines = told(found(consequences=(raised,)))
    assert lines[-1].endswith(" ...")
    assert len(lines) < 10


def test_of_several_names_the_sentence_speaks_of_several_gradients() -> None:
    each = [(name, Explanation("zero", "saturated", f"{name}.grad is zero: tanh is flat")) for name in ("a.w", "a.b")]
    ((names, one),) = alike(each)
    assert names == ("a.w", "a.b")
    assert one.verdict == "the gradients of a.w and a.b are zero: tanh is flat"
    ((_, alone),) = alike(each[:1])
    assert alone.verdict == "a.w.grad is zero: tanh is flat"


def test_a_finding_is_told_alike_in_another_process() -> None:
    here = found(evidence={"loss": Row(7), "share": 0.25, "steps": 3, "worst": float("nan")})
    assert told(from_json(json.loads(json.dumps(to_json(here))))) == told(here)
