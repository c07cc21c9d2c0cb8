"""What torchlens says of the pairs whose forward passes it can compare, written to torchlens.json.

python -m venv /tmp/tl && /tmp/tl/bin/pip install torch torchlens
/tmp/tl/bin/python tests/pairs/torchlens_score.py

torchlens compares two traces of one forward call. Each side is played until the call in question: a module's own
forward (the outermost module called, in the training step where the pair parts) or, where a side is made of
functions, the function named in CALLS. The call is traced with its arguments and the state of the random numbers,
and `torchlens.debug.first_divergence` compares both traces, at rtol 1e-3 and atol 1e-5 so that rounding is none.
Partings of the backward pass and of the update are outside of what it compares; of these pairs it is asked all
the same, and "no divergence" is right for their forward pass. Beside its first row of divergence (an op that only
one side has is one) its first row with unlike values is kept, for a generous score.
"""

from __future__ import annotations

import copy
import json
import os
import pathlib
import runpy
import signal
import sys
import tempfile
import warnings
from typing import Any

HERE = pathlib.Path(__file__).resolve().parent
RTOL, ATOL = 1e-3, 1e-5
# Sides that are functions (name of the function), or modules of which another call counts (its number, from 0).
CALLS: dict[tuple[str, str], str | int] = {
    ("02", "b"): "forward",
    ("06", "a"): "model",
    ("07", "b"): "predict",
    ("08", "a"): 4,  # three steps and the validation come first
    ("08", "b"): 4,
    ("10", "b"): "apply",
    ("11", "b"): "forward",
    ("12", "a"): "loss",
    ("12", "b"): "loss",
    ("28", "a"): 1,  # the call of the loss, after that of the model
    ("28", "b"): 1,
    ("30", "b"): "predict",
    ("34", "b"): "__call__",
    ("36", "b"): "forward",
}


class Reached(BaseException):
    pass


def reach(folder: pathlib.Path, file: str, call: str | int) -> tuple[Any, tuple[Any, ...], dict[str, Any], Any]:
    """Plays the program up to the call; the callable, its arguments and the random state before it."""
    import torch

    found: list[Any] = []
    count = [0]
    inside = [0]
    original = torch.nn.Module.__call__

    def module_call(self: Any, *args: Any, **kwargs: Any) -> Any:
        own = sys._getframe(1).f_code.co_filename.startswith(str(folder))
        if inside[0] == 0 and own and isinstance(call, int):
            count[0] += 1
            if count[0] == call + 1:
                found.extend([self, args, kwargs, torch.random.get_rng_state()])
                raise Reached
        inside[0] += 1
        try:
            return original(self, *args, **kwargs)
        finally:
            inside[0] -= 1

    def function_call(frame: Any, event: str, arg: Any) -> Any:
        code = frame.f_code
        if event == "call" and code.co_name == call and code.co_filename.startswith(str(folder)):
            names = code.co_varnames[: code.co_argcount]
            values = [frame.f_locals[n] for n in names]
            if names and names[0] == "self":
                target = getattr(values.pop(0), code.co_name)
            else:
                target = frame.f_globals[code.co_name]
            found.extend([target, tuple(values), {}, torch.random.get_rng_state()])
            raise Reached
        return None

    torch.nn.Module.__call__ = module_call  # type: ignore[method-assign]
    if isinstance(call, str):
        sys.settrace(function_call)
    try:
        runpy.run_path(str(folder / file), run_name="__main__")
    except Reached:
        pass
    finally:
        sys.settrace(None)
        torch.nn.Module.__call__ = original  # type: ignore[method-assign]
    if not found:
        raise RuntimeError("the call was never made")
    return tuple(found)  # type: ignore[return-value]


def wrap(target: Any) -> Any:
    import torch

    if isinstance(target, torch.nn.Module):
        return target

    class Whole(torch.nn.Module):
        def forward(self, *args: Any) -> Any:
            return target(*args)

    return Whole()


def tensors_only(target: Any, args: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
    """Arguments that are no tensors (a dict of weights) are bound beforehand."""
    import torch

    if all(isinstance(a, torch.Tensor) for a in args):
        return target, args
    fixed = {i: a for i, a in enumerate(args) if not isinstance(a, torch.Tensor)}
    rest = tuple(a for a in args if isinstance(a, torch.Tensor))

    def bound(*given: Any) -> Any:
        it = iter(given)
        return target(*(fixed[i] if i in fixed else next(it) for i in range(len(args))))

    return bound, rest


def place(trace: Any, label: str, folder: pathlib.Path) -> str | None:
    """The innermost line of the program (not of torch) that belongs to an op."""
    from torchlens.debug._common import _compute_ops, _op_label

    for op in _compute_ops(trace):
        if _op_label(op) == label:
            lines = [(str(c.file), c.line_number) for c in getattr(op, "code_context", None) or ()]
            own = [f"{pathlib.Path(f).name}:{n}" for f, n in lines if f.startswith(str(folder))]
            return own[-1] if own else None
    return None


def ask(name: str) -> dict[str, Any]:
    import torch
    import torchlens
    from torchlens.debug import compare_rows, first_divergence

    folder = HERE / name
    traces = []
    for side in "ab":
        sys.path[0] = str(folder)
        target, args, kwargs, state = reach(folder, f"{side}.py", CALLS.get((name[:2], side), 0))
        target, args = tensors_only(target, args)
        torch.random.set_rng_state(state)
        model = wrap(target)
        if isinstance(target, torch.nn.Module):
            model = copy.deepcopy(target)
        torch.random.set_rng_state(state)
        traces.append(torchlens.trace(model, list(args), kwargs or None))
    row = first_divergence(*traces, rtol=RTOL, atol=ATOL)
    rows, counts = compare_rows(*traces, rtol=RTOL, atol=ATOL)
    value = next((r for r in rows if r["allclose"] is False), None)
    keys = ("matched", "shape_mismatch", "only_a", "only_b", "value_diverged", "activation_unavailable")
    out: dict[str, Any] = {"counts": {k: counts[k] for k in keys}}
    for key, found in (("first", row), ("first value", value)):
        out[key] = None
        if found:
            a, b = (place(t, found["op"], folder) for t in traces)
            out[key] = {"op": found["op"], "why": why(found), "a": a, "b": b}
    return out


def why(row: dict[str, Any]) -> str:
    if row["status"] != "present-in-both":
        return str(row["status"])
    return "shape" if row["shape_match"] is False else f"value, {row['max_abs']:.2g}"


def in_child(name: str, limit: int = 120) -> dict[str, Any]:
    """In a process of its own: both sides may have modules of one name, and torchlens wraps all of torch."""
    with tempfile.TemporaryDirectory() as scratch:
        saved = pathlib.Path(scratch, "answer.json")
        child = os.fork()
        if child == 0:
            code = 1
            try:
                out = os.open(os.devnull, os.O_WRONLY)
                os.dup2(out, 1)
                os.dup2(out, 2)
                os.chdir(HERE / name)
                sys.argv = ["a.py"]
                signal.alarm(limit)
                saved.write_text(json.dumps(ask(name)))
                code = 0
            except BaseException as error:
                saved.write_text(json.dumps({"error": f"{type(error).__name__}: {error}"[:300]}))
            finally:
                os._exit(code)
        os.waitpid(child, 0)
        return json.loads(saved.read_text()) if saved.exists() else {"error": f"no answer in {limit} s"}


def located(entry: dict[str, Any], said: dict[str, Any] | None) -> bool:
    for side in "ab":
        file, _, line = ((said or {}).get(side) or ":0").rpartition(":")
        if file == entry[side]["file"] and int(line) in entry[side]["lines"]:
            return True
    return False


def judge(entry: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
    if "error" in answer:
        return {"verdict": None, "located": None, "located by value": None}
    if entry["first"] != "forward":
        return {"verdict": answer["first"] is None, "located": None, "located by value": None}
    by_value = located(entry, answer["first value"])
    return {
        "verdict": answer["first"] is not None,
        "located": located(entry, answer["first"]),
        "located by value": by_value,
    }


def main() -> int:
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.dont_write_bytecode = True
    warnings.simplefilter("ignore")
    import torch
    import torchlens

    torch.set_num_threads(1)
    pairs = json.loads((HERE / "expected.json").read_text())["pairs"]
    out: dict[str, Any] = {"torchlens": torchlens.__version__, "torch": torch.__version__, "rtol": RTOL, "atol": ATOL}
    out["pairs"] = {}
    for name, entry in sorted(pairs.items()):
        if sys.argv[1:] and not name.startswith(tuple(sys.argv[1:])):
            continue
        answer = in_child(name)
        answer.update(judge(entry, answer))
        out["pairs"][name] = answer
        said = answer.get("error") or (answer["first"] or "no divergence")
        print(f"{name:24s} verdict {answer['verdict']!s:5s} located {answer['located']!s:5s} {said}", flush=True)
    answers = out["pairs"]
    forward = [n for n in answers if pairs[n]["first"] == "forward"]
    same = [n for n in answers if pairs[n]["same"]]
    out["totals"] = {
        "tried": sum("error" not in a for a in answers.values()),
        "parting in the forward pass": len(forward),
        "located": sum(bool(answers[n]["located"]) for n in forward),
        "located by the first unlike value": sum(bool(answers[n]["located by value"]) for n in forward),
        "located, same structure": sum(bool(answers[n]["located"]) for n in forward if pairs[n]["structure"] == "same"),
        "equal pairs": len(same),
        "equal pairs called equal": sum(bool(answers[n]["verdict"]) for n in same),
    }
    print(out["totals"])
    if not sys.argv[1:]:
        (HERE / "torchlens.json").write_text(json.dumps(out, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
