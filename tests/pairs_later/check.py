"""Measures where the two programs of a pair part, with an instrument that knows nothing of the tool under exam.

python tests/pairs_later/check.py                 # plays all programs, one at a time, and judges them
python tests/pairs_later/check.py 07 21           # those whose name begins so
python tests/pairs_later/check.py 07 --double     # in float64, where a real difference stays and rounding goes

Each side is played with a line tracer that takes the values named in probes.json, right after the line has run:
[sign, a, b] with sides of the form "file | piece of the line | expression | hit" (a hit counts from 0, "all" joins
all of them; "grad:" before the expression takes the gradient that arrives there; "sorted:" sorts the numbers). The
sign is "=" for values that must agree and "!" for values that must differ. Beside the probes it notes, wherever the
two sides have them in equal numbers, at every backward() the loss, the leaves and their gradients, and at every
optimizer.step() the gradients and the parameters after it, each as one sorted list of numbers.
"""

from __future__ import annotations

import argparse
import io
import json
import pathlib
import runpy
import subprocess
import sys
import tempfile
from contextlib import redirect_stdout
from typing import Any

HERE = pathlib.Path(__file__).resolve().parent
SAME = {False: 1e-5, True: 1e-10}  # largest difference of values that agree, relative to the largest value
PART = 1e-4  # smallest difference where two sides part


def line_of(path: pathlib.Path, piece: str) -> int:
    hits = [n for n, line in enumerate(path.read_text().splitlines(), 1) if piece in line]
    if len(hits) != 1:
        raise SystemExit(f"{path}: {piece!r} stands in {len(hits)} lines")
    return hits[0]


class Tracer:
    """Evaluates expressions in the frame of a program right after a line of it has run."""

    def __init__(self, folder: pathlib.Path, wanted: list[str]) -> None:
        self.found: list[list[Any]] = [[] for _ in wanted]
        self.lines: dict[tuple[str, int], list[tuple[int, str]]] = {}
        self.files = set()
        for index, text in enumerate(wanted):
            file, piece, expression = (part.strip() for part in text.split(" | ")[:3])
            path = str(folder / file)
            self.files.add(path)
            self.lines.setdefault((path, line_of(folder / file, piece)), []).append((index, expression))

    def call(self, frame: Any, event: str, arg: Any) -> Any:
        if frame.f_code.co_filename not in self.files:
            return None
        last: list[int | None] = [None]

        def local(frame: Any, event: str, arg: Any) -> Any:
            if event in ("line", "return") and last[0] is not None and (event == "return" or frame.f_lineno != last[0]):
                self.take(frame, last[0], arg if event == "return" else None)
            last[0] = frame.f_lineno if event == "line" else None
            return local

        return local

    def take(self, frame: Any, line: int, result: Any) -> None:
        for index, expression in self.lines.get((frame.f_code.co_filename, line), ()):
            import torch

            plain = expression.removeprefix("sorted:").removeprefix("grad:")
            sys.settrace(None)
            names = {**frame.f_globals, **frame.f_locals, "result": result}
            if "grad:" in expression:
                value = eval(plain, names)
                slot: list[Any] = []
                self.found[index].append(slot)
                value.register_hook(lambda g, slot=slot: slot.append(g.detach().double().clone().reshape(-1)))
            else:
                with torch.no_grad():
                    value = eval(plain, names)
                    value = torch.as_tensor(value).detach()
                    self.found[index].append(value.double().clone().reshape(-1))
            sys.settrace(self.call)


def play(folder: pathlib.Path, side: str, wanted: list[str], double: bool, out: str) -> None:
    import torch
    from torch.optim import optimizer as optim

    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64 if double else torch.float32)
    streams: dict[str, list[Any]] = {"loss": [], "leaves": [], "gradients": [], "at step": [], "after step": []}

    def joined(tensors: list[Any]) -> Any:
        flat = [t.detach().double().reshape(-1) for t in tensors if t is not None]
        return torch.cat(flat).sort().values if flat else torch.zeros(0)

    def leaves(fn: Any) -> list[Any]:
        seen, todo, found = set(), [fn], []
        while todo:
            node = todo.pop()
            if node is None or node in seen:
                continue
            seen.add(node)
            if hasattr(node, "variable"):
                found.append(node.variable)
            todo.extend(n for n, _ in node.next_functions)
        return found

    backward = torch.Tensor.backward

    def noted(self: Any, *args: Any, **kwargs: Any) -> None:
        own = leaves(self.grad_fn)
        streams["loss"].append(self.detach().double().reshape(-1).clone())
        streams["leaves"].append(joined(own))
        backward(self, *args, **kwargs)
        streams["gradients"].append(joined([p.grad for p in own]))

    torch.Tensor.backward = noted  # type: ignore[method-assign]

    def parameters(o: Any) -> list[Any]:
        return [p for group in o.param_groups for p in group["params"]]

    optim.register_optimizer_step_pre_hook(
        lambda o, *_: streams["at step"].append(joined([p.grad for p in parameters(o)]))
    )
    optim.register_optimizer_step_post_hook(lambda o, *_: streams["after step"].append(joined(parameters(o))))
    tracer = Tracer(folder, wanted)
    sys.path.insert(0, str(folder))
    sys.settrace(tracer.call)
    try:
        with redirect_stdout(io.StringIO()):
            runpy.run_path(str(folder / f"{side}.py"), run_name="__main__")
    finally:
        sys.settrace(None)
    probes = [[slot[0] if isinstance(slot, list) else slot for slot in hits] for hits in tracer.found]
    torch.save({"streams": streams, "probes": probes}, out)


def distance(a: Any, b: Any) -> float:
    if a.shape != b.shape:
        return float("inf")
    top = max(float(a.abs().max()), float(b.abs().max()), 1e-30) if a.numel() else 1.0
    return float((a - b).abs().max()) / top if a.numel() else 0.0


def hit(found: list[Any], spec: str) -> Any:
    import torch

    parts = spec.split(" | ")
    which = parts[3].strip() if len(parts) > 3 else "0"
    value = torch.cat(found) if which == "all" else found[int(which)]
    return value.sort().values if parts[2].strip().startswith("sorted:") else value


def judge(name: str, entry: dict[str, Any], probes: list[list[str]], double: bool) -> bool:
    import torch

    sides = []
    with tempfile.TemporaryDirectory() as scratch:
        for number, side in enumerate("ab", 1):
            out = f"{scratch}/{side}.pt"
            wanted = json.dumps([p[number] for p in probes])
            command = [sys.executable, "-B", __file__, "--play", name, side, wanted, out]
            subprocess.run(command + ["--double"] * double, check=True)
            sides.append(torch.load(out))
    good, worst, parting = True, 0.0, None
    for number, (sign, a, b) in enumerate(probes):
        found = distance(hit(sides[0]["probes"][number], a), hit(sides[1]["probes"][number], b))
        right = found <= SAME[double] if sign == "=" else found >= PART
        good &= right
        if sign == "=":
            worst = max(worst, found)
        elif parting is None:
            parting = found
        print(f"   {sign} {found:8.1e} {'' if right else 'NO'}  {a}  //  {b}")
    for stream, of_a in sides[0]["streams"].items():
        of_b = sides[1]["streams"][stream]
        if len(of_a) != len(of_b) or any(x.shape != y.shape for x, y in zip(of_a, of_b, strict=True)):
            print(f"   {stream:10s} not comparable ({len(of_a)}, {len(of_b)} times)")
            continue
        found = [distance(x, y) for x, y in zip(of_a, of_b, strict=True)]
        print(f"   {stream:10s} " + " ".join(f"{d:.1e}" for d in found))
        until = len(found) if entry["same"] else entry["step"] - 1
        if not entry["same"] and until < len(found):
            rank = {"forward": 0, "backward": 1, "update": 2}[entry["first"]]
            level = {"loss": 0, "leaves": -1, "gradients": 1, "at step": 2, "after step": 2}[stream]
            until += level < rank
        worst = max([worst, *found[:until]])
        good &= max(found[:until], default=0.0) <= SAME[double]
    part = "" if parting is None else f", parts by {parting:.1e}"
    print(f"{name}: before {worst:.1e}{part}: {'good' if good else 'NOT GOOD'}", flush=True)
    return good


def main() -> int:
    if sys.argv[1:2] == ["--play"]:
        name, side, wanted, out = sys.argv[2:6]
        play(HERE / name, side, json.loads(wanted), "--double" in sys.argv, out)
        return 0
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("only", nargs="*", help="beginnings of names")
    parser.add_argument("--double", action="store_true")
    args = parser.parse_args()
    pairs = json.loads((HERE / "expected.json").read_text())["pairs"]
    probes = json.loads((HERE / "probes.json").read_text())
    chosen = [n for n in sorted(pairs) if not args.only or n.startswith(tuple(args.only))]
    good = [judge(n, pairs[n], probes[n], args.double) for n in chosen]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
