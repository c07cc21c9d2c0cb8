"""Keeps the pairs true: files, lines and kinds; with --run also that both sides part where expected.json says.

python tests/pairs/check.py                       # the static part, a second
python tests/pairs/check.py --run                 # plays all 80 programs, one at a time, and compares them
python tests/pairs/check.py --run --only 07 23    # those whose name begins so
python tests/pairs/check.py --run --double        # in float64, where a real difference stays and rounding goes
python tests/pairs/check.py --run --json out.json # the measured numbers as well

The measure is an instrument of its own and knows nothing of the tool under exam. It plays each side with a line
tracer and takes the values that probes.json names ("file | piece of a line | expression | hit"), right after the
line has run; "grad:" before the expression takes the gradient that arrives there. Beside the probes it notes at
every step the loss, the gradients after backward() and at optimizer.step(), and the parameters before and after
the step, each as one sorted list of numbers, so that names, transposition and fusion do not matter.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import pathlib
import re
import runpy
import signal
import sys
import tempfile
import time
import traceback
import warnings
from typing import Any

HERE = pathlib.Path(__file__).resolve().parent
WANTED = {"pairs": 40, "same": 10, "different": 25}
GIVEAWAY = re.compile(
    r"\b(bug|buggy|broken|fixme|fault|faulty|wrong|mistake|culprit|oops|diverge\w*|differs?|planted)\b", re.IGNORECASE
)
SAME = 1e-5  # everything before the parting agrees within this, relative to the largest value
PART = 1e-4  # and at the parting the difference is at least this
EQUAL = 1e-5  # the pairs that are the same: losses, gradients and parameters over all their steps
DOUBLE = 1e-10  # with --double, where numbers have 16 digits, everything that agrees does so within this
SINGLE = {"21"}  # casts to float32 itself and cannot be played with --double
PASSES = ("forward", "backward", "update")


def load(name: str) -> Any:
    return json.loads((HERE / name).read_text())


def folders() -> list[pathlib.Path]:
    return sorted(p for p in HERE.glob("[0-9][0-9]_*") if (p / "a.py").exists())


def find(path: pathlib.Path, piece: str) -> int:
    """The one line of the file that holds the piece; "piece ##2" is the second that does."""
    piece, _, nth = piece.partition(" ##")
    hits = [n for n, line in enumerate(path.read_text().splitlines(), 1) if piece in line]
    if not hits or (len(hits) > 1 and not nth):
        raise ValueError(f"{path.parent.name}/{path.name}: {piece!r} stands in {len(hits)} lines")
    return hits[int(nth or 1) - 1]


def statement(path: pathlib.Path, line: int) -> tuple[int, int]:
    """First and last line of the innermost statement that covers the line."""
    best = (line, line)
    size = 10**9
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or 0):
            span = (node.end_lineno or 0) - node.lineno
            if span <= size:
                best, size = (node.lineno, node.end_lineno or 0), span
    return best


# ---- the static part


def static(only: list[str]) -> list[str]:
    wrong: list[str] = []
    expected = load("expected.json")
    kinds, pairs, probes = expected["kinds"], expected["pairs"], load("probes.json")
    names = [p.name for p in folders()]
    if names != sorted(pairs):
        wrong.append(f"folders and expected.json differ: {sorted(set(names) ^ set(pairs))}")
    if not only:
        have = {
            "pairs": len(pairs),
            "same": sum(e["same"] for e in pairs.values()),
            "different": sum(e["structure"] == "different" for e in pairs.values()),
        }
        wrong += [f"{have[k]} {k}, {n} wanted" for k, n in WANTED.items() if have[k] != n]
    for name, entry in pairs.items():
        if entry["kind"] not in kinds:
            wrong.append(f"{name}: kind {entry['kind']} is not defined")
        if not probes.get(name):
            wrong.append(f"{name}: no probes")
        if entry["same"]:
            if any(entry[key] is not None for key in ("first", "step", "a", "b")):
                wrong.append(f"{name}: the same, yet a place is named")
            continue
        if entry["first"] not in PASSES or not isinstance(entry["step"], int):
            wrong.append(f"{name}: no pass or step")
        if not any(p["is"] == "part" for p in probes[name]) or not any(p["is"] == "same" for p in probes[name]):
            wrong.append(f"{name}: a probe before and one at the parting are needed")
        for side in "ab":
            lines = (HERE / name / entry[side]["file"]).read_text().splitlines()
            if not 1 <= len(entry[side]["lines"]) <= 4:
                wrong.append(f"{name}: {len(entry[side]['lines'])} lines named")
            for n in entry[side]["lines"]:
                text = lines[n - 1].strip() if 0 < n <= len(lines) else ""
                if not text or text.startswith("#"):
                    wrong.append(f"{name}: {side} {entry[side]['file']}:{n} is empty or a comment")
    for path in sorted(HERE.glob("[0-9][0-9]_*/**/*.py")):
        for n, line in enumerate(path.read_text().splitlines(), 1):
            if GIVEAWAY.search(line):
                wrong.append(f"{path.relative_to(HERE)}:{n}: gives something away: {line.strip()}")
    return wrong


# ---- the instrument


class Taps:
    """Takes the values of probes in the frames of one program."""

    def __init__(self, folder: pathlib.Path, wanted: list[str]) -> None:
        self.values: dict[str, list[Any]] = {w: [] for w in wanted}
        self.at: dict[str, list[tuple[str, int, int, str]]] = {}
        for text in wanted:
            file, piece, expr = (part.strip() for part in text.split(" | ")[:3])
            path = (folder / file).resolve()
            first, last = statement(path, find(path, piece))
            self.at.setdefault(str(path), []).append((text, first, last, expr))
        self.pending: dict[int, list[tuple[str, int, int, str]]] = {}

    def keep(self, text: str, value: Any) -> None:
        import torch

        self.values[text].append(torch.as_tensor(value).detach().cpu().clone())

    def take(self, frame: Any, taps: list[tuple[str, int, int, str]], result: Any) -> None:
        for text, _, _, expr in taps:
            graded = expr.startswith("grad:")
            scope = {**frame.f_globals, **frame.f_locals, "result": result}
            value = eval(expr.removeprefix("grad:"), scope)
            if graded:
                value.register_hook(lambda g, text=text: self.keep(text, g))
            else:
                self.keep(text, value)

    def trace(self, frame: Any, event: str, arg: Any) -> Any:
        code = frame.f_code
        if code.co_filename not in self.at or (code.co_name.startswith("<") and code.co_name != "<module>"):
            return None
        return self.local

    def local(self, frame: Any, event: str, arg: Any) -> Any:
        key, line = id(frame), frame.f_lineno
        if event in ("line", "return"):
            waiting = self.pending.pop(key, [])
            done = [t for t in waiting if event == "return" or not t[1] <= line <= t[2]]
            if done:
                self.take(frame, done, arg)
            left = [t for t in waiting if t not in done]
            if event == "line":
                taps = self.at[frame.f_code.co_filename]
                left += [t for t in taps if t[1] == line and t not in left]
                if left:
                    self.pending[key] = left
        return self.local


def record(folder: pathlib.Path, file: str, wanted: list[str]) -> dict[str, Any]:
    import torch
    from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

    steps: list[dict[str, Any]] = []
    optimizers: list[Any] = []

    def params() -> list[Any]:
        seen: dict[int, Any] = {}
        for opt in optimizers:
            for group in opt.param_groups:
                seen.update({id(p): p for p in group["params"]})
        return list(seen.values())

    def flat(tensors: list[Any]) -> Any:
        tensors = [t.detach().double().flatten() for t in tensors]
        return torch.cat(tensors).sort().values if tensors else torch.zeros(0)

    def grads() -> Any:
        return flat([p.grad if p.grad is not None else torch.zeros_like(p) for p in params()])

    init, backward = torch.optim.Optimizer.__init__, torch.Tensor.backward

    def new_init(self: Any, *args: Any, **kwargs: Any) -> None:
        init(self, *args, **kwargs)
        if self not in optimizers:
            optimizers.append(self)

    def new_backward(self: Any, *args: Any, **kwargs: Any) -> None:
        entry = {"loss": self.detach().double().reshape(-1).clone(), "before": flat(params())}
        backward(self, *args, **kwargs)  # type: ignore[no-untyped-call]
        entry["grads"] = grads()
        steps.append(entry)

    def at_step(opt: Any, args: Any, kwargs: Any) -> None:
        steps[-1]["grads at step"] = grads()

    def after_step(opt: Any, args: Any, kwargs: Any) -> None:
        steps[-1]["after"] = flat(params())

    torch.optim.Optimizer.__init__ = new_init  # type: ignore[method-assign]
    torch.Tensor.backward = new_backward  # type: ignore[method-assign]
    register_optimizer_step_pre_hook(at_step)
    register_optimizer_step_post_hook(after_step)
    taps = Taps(folder, wanted)
    sys.settrace(taps.trace)
    try:
        runpy.run_path(str(folder / file), run_name="__main__")
    finally:
        sys.settrace(None)
    return {"steps": steps, "probes": taps.values}


def play(folder: pathlib.Path, file: str, wanted: list[str], dtype: str, limit: float = 60.0) -> tuple[Any, str, float]:
    """Plays one side in a child that inherits the imported torch; what it recorded, its last line, its seconds."""
    import torch

    begin = time.time()
    with tempfile.TemporaryDirectory() as scratch:
        saved, said = pathlib.Path(scratch, "values"), pathlib.Path(scratch, "said")
        child = os.fork()
        if child == 0:
            code = 1
            try:
                out = os.open(said, os.O_CREAT | os.O_WRONLY)
                os.dup2(out, 1)
                os.dup2(out, 2)
                os.chdir(folder)
                sys.argv, sys.path[0] = [file], str(folder)
                torch.set_default_dtype(getattr(torch, dtype))
                signal.alarm(int(limit))
                torch.save(record(folder, file, wanted), saved)
                code = 0
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        printed = said.read_text().strip().splitlines() if said.exists() else []
        values = torch.load(saved, weights_only=True) if code == 0 else None
    return values, printed[-1] if printed else "", time.time() - begin


def distance(a: Any, b: Any) -> float:
    """Largest difference relative to the largest value; inf for unlike lengths."""
    import torch

    a, b = a.flatten(), b.flatten()
    if a.is_complex() or b.is_complex():
        a, b = torch.view_as_real(a + 0j).flatten(), torch.view_as_real(b + 0j).flatten()
    a, b = a.double(), b.double()
    if a.numel() != b.numel():
        return float("inf")
    if not a.numel():
        return 0.0
    if not (torch.isfinite(a).all() and torch.isfinite(b).all()):
        return 0.0 if torch.equal(torch.nan_to_num(a), torch.nan_to_num(b)) else float("inf")
    scale = max(a.abs().max().item(), b.abs().max().item())
    return (a - b).abs().max().item() / scale if scale else 0.0


def measure(
    name: str, entry: dict[str, Any], probes: list[dict[str, Any]], dtype: str
) -> tuple[list[str], dict[str, Any]]:
    folder = HERE / name
    wrong: list[str] = []
    before, equal = (DOUBLE, DOUBLE) if dtype == "float64" else (SAME, EQUAL)
    sides = {}
    seconds = {}
    for side in "ab":
        values, last, took = play(folder, f"{side}.py", sorted({p[side] for p in probes}), dtype)
        if values is None:
            return [f"{name}: {side}.py: {last}"], {}
        sides[side], seconds[side] = values, took
    out: dict[str, Any] = {"seconds": max(seconds.values()), "probes": [], "before": 0.0, "parting": None, "steps": {}}

    for probe in probes:
        pair = []
        for side in "ab":
            parts = probe[side].split(" | ")
            hit, taken = int(parts[3]) if len(parts) > 3 else 0, sides[side]["probes"][probe[side]]
            if hit >= len(taken):
                wrong.append(f"{name}: {side} probe hit {len(taken)} times only: {probe[side]}")
                break
            pair.append(taken[hit])
        if len(pair) < 2:
            continue
        d = distance(*pair)
        out["probes"].append({"is": probe["is"], "distance": d, "a": probe["a"], "b": probe["b"]})
        if probe["is"] == "same":
            out["before"] = max(out["before"], d)
            if not d <= before:
                wrong.append(f"{name}: should agree, {d:.2g}: {probe['a']} / {probe['b']}")
        else:
            out["parting"] = d if out["parting"] is None else out["parting"]
            if not d >= PART:
                wrong.append(f"{name}: should part, {d:.2g}: {probe['a']} / {probe['b']}")

    a, b = sides["a"]["steps"], sides["b"]["steps"]
    if len(a) != len(b) and (entry["same"] or (a and b)):  # autograd.grad on one side shows in probes alone
        wrong.append(f"{name}: {len(a)} and {len(b)} backward passes")
    out["backwards"] = max(len(a), len(b))
    for k, (one, two) in enumerate(zip(a, b, strict=False), 1):
        row = {key: distance(one[key], two[key]) for key in one if key in two}
        out["steps"][k] = row
        for key, d in row.items():
            if entry["same"]:
                out["before"] = max(out["before"], d)
                if not d <= equal:
                    wrong.append(f"{name}: step {k}: {key} should agree, {d:.2g}")
                continue
            which = {"before": 0, "loss": 0, "grads": 1}.get(key, 2)
            here, there = (k, which), (entry["step"], PASSES.index(entry["first"]))
            if key == "before" and (k > entry["step"] or d == float("inf")):  # one parameter more, probes see to it
                continue
            if here < there or key == "before":
                out["before"] = max(out["before"], d)
                if not d <= before:
                    wrong.append(f"{name}: step {k}: {key} should agree still, {d:.2g}")
            if here == there and which and (key != "grads at step") and not d >= PART:
                wrong.append(f"{name}: step {k}: {key} should part, {d:.2g}")
    return wrong, out


def run(only: list[str], to: str | None, dtype: str) -> list[str]:
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.dont_write_bytecode = True
    warnings.simplefilter("ignore")
    import torch.utils.checkpoint
    import torch.utils.data

    torch.set_num_threads(1)
    expected, probes = load("expected.json")["pairs"], load("probes.json")
    wrong: list[str] = []
    numbers = {}
    for name, entry in sorted(expected.items()):
        if (only and not name.startswith(tuple(only))) or (dtype == "float64" and name[:2] in SINGLE):
            continue
        bad, out = measure(name, entry, probes.get(name, []), dtype)
        wrong += bad
        if out:
            numbers[name] = out
            parting = "" if entry["same"] else f"  parts by {out['parting'] or 0:.1e}"
            line = f"before {out['before']:.1e}{parting}  {out['backwards']} backward passes"
            print(f"{'BAD' if bad else 'ok '} {name:24s} {out['seconds']:4.1f} s  {line}", flush=True)
        else:
            print(f"BAD {name}", flush=True)
    if to:
        pathlib.Path(to).write_text(json.dumps(numbers, indent=1) + "\n")
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--run", action="store_true", help="play the programs as well")
    parser.add_argument("--only", nargs="*", default=[], help="beginnings of names")
    parser.add_argument("--double", action="store_true", help="play them in float64: equal is equal, and no rounding")
    parser.add_argument("--json", help="write the measured numbers here")
    args = parser.parse_args()
    wrong = static(args.only)
    if args.run:
        wrong += run(args.only, args.json, "float64" if args.double else "float32")
    print("\n".join(wrong) if wrong else "the pairs are in order")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
