"""Scores `graphscope diff a.py b.py --json` against expected.json.

python tests/pairs/score.py                  # all pairs, one at a time
python tests/pairs/score.py 07 23            # those whose name begins so
python tests/pairs/score.py -j 4 --json out.json
python tests/pairs/score.py 07 --show        # prints the whole answer of the tool as well
python tests/pairs/score.py --pairs tests/pairs_later   # the pairs of another folder

Every pair is played in a scratch copy of its folder. Right are: the verdict (the exit status and "same" agree with
expected.json); the place (a's file and line among the accepted ones of a, or b's among those of b); the pass and
the step. "both" counts how often the lines of both sides are accepted; the issue asks for either.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

HERE = pathlib.Path(__file__).resolve().parent
WANTED = {"verdict": (39, 40), "located": (27, 30)}  # so many of so many


def answer_in(text: str) -> dict[str, Any] | None:
    """The JSON object of the answer; whatever programs have printed before it is passed over."""
    decoder = json.JSONDecoder()
    at = -1
    while (at := text.find("{", at + 1)) >= 0:
        if at and text[at - 1] != "\n":
            continue
        try:
            found, _ = decoder.raw_decode(text, at)
        except ValueError:
            continue
        if isinstance(found, dict) and "same" in found:
            return found
    return None


def accepted(place: Any, wanted: dict[str, Any], folder: pathlib.Path) -> bool:
    if not isinstance(place, dict) or not place.get("file") or not place.get("line"):
        return False
    file = (folder / place["file"]).resolve()
    return file == (folder / wanted["file"]).resolve() and int(place["line"]) in wanted["lines"]


def where(place: Any) -> str:
    if not isinstance(place, dict):
        return "-"
    return f"{pathlib.Path(str(place.get('file'))).name}:{place.get('line')}"


def score(pairs: pathlib.Path, name: str, entry: dict[str, Any], command: list[str], timeout: float) -> dict[str, Any]:
    result: dict[str, Any] = {"pair": name, "kind": entry["kind"], "wanted": "same" if entry["same"] else "part"}
    result.update(verdict=False, located=None if entry["same"] else False, both=None if entry["same"] else False)
    result.update({"pass": result["located"], "step": result["located"], "said": "", "answer": None})
    begin = time.time()
    with tempfile.TemporaryDirectory(prefix="pairs-") as scratch:
        folder = pathlib.Path(scratch).resolve() / name
        shutil.copytree(pairs / name, folder, ignore=shutil.ignore_patterns("__pycache__"))
        try:
            env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
            line = [*command, "a.py", "b.py", "--json"]
            done = subprocess.run(
                line,
                cwd=folder,
                capture_output=True,
                text=True,
                timeout=timeout,
                env=env,
            )
        except subprocess.TimeoutExpired:
            return {**result, "seconds": time.time() - begin, "said": f"no answer in {timeout:.0f} s"}
        result["seconds"], result["status"] = time.time() - begin, done.returncode
        answer = result["answer"] = answer_in(done.stdout)
        if answer is None:
            last = (done.stderr.strip() or done.stdout.strip()).splitlines()
            return {**result, "said": f"status {done.returncode}, no JSON: {last[-1] if last else ''}"}
        same = bool(answer["same"])
        result["verdict"] = same == entry["same"] and done.returncode == (0 if same else 1)
        parting = answer.get("parting")
        if parting:
            a, b = parting.get("a"), parting.get("b")
            what = "; ".join(str(w) for w in parting.get("what") or [])
            result["said"] = f"{parting.get('pass')} {parting.get('step')} {where(a)} / {where(b)} {what}"
            if not entry["same"]:
                hits = [accepted(place, entry[side], folder) for side, place in (("a", a), ("b", b))]
                result["located"], result["both"] = any(hits), all(hits)
                result["pass"] = parting.get("pass") == entry["first"]
                result["step"] = parting.get("step") == entry["step"]
        else:
            result["said"] = "same" if same else "they part, no place named"
    return result


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("only", nargs="*", help="beginnings of names")
    parser.add_argument("--pairs", type=pathlib.Path, default=HERE, metavar="FOLDER", help="with its expected.json")
    parser.add_argument("-j", type=int, default=1, metavar="N", help="pairs at a time")
    parser.add_argument("--json", help="write all results here")
    parser.add_argument("--show", action="store_true", help="print the answers of the tool")
    parser.add_argument("--timeout", type=float, default=180.0, help="seconds for one pair")
    parser.add_argument("--command", default="", help="instead of `graphscope diff`")
    args = parser.parse_args()
    command = args.command.split() or [sys.executable, "-m", "graphscope", "diff"]
    pairs = json.loads((args.pairs / "expected.json").read_text())["pairs"]
    chosen = {n: e for n, e in sorted(pairs.items()) if not args.only or n.startswith(tuple(args.only))}
    if not chosen:
        parser.error("no pair has such a name")

    results: list[dict[str, Any]] = []
    sign = {True: "yes", False: "NO", None: "-"}
    columns = ("verdict", "located", "both", "pass", "step")
    print(f"{'pair':24s} {'kind':20s} " + " ".join(f"{c:7s}" for c in columns) + " seconds  said")
    with ThreadPoolExecutor(max(1, args.j)) as pool:
        for r in pool.map(lambda item: score(args.pairs, *item, command, args.timeout), chosen.items()):
            results.append(r)
            row = " ".join(f"{sign[r[c]]:7s}" for c in columns)
            print(f"{r['pair']:24s} {r['kind']:20s} {row} {r['seconds']:7.1f}  {r['said'][:150]}", flush=True)
            if args.show:
                print(json.dumps(r["answer"], indent=1))

    parted = [r for r in results if r["wanted"] == "part"]
    totals = {c: sum(bool(r[c]) for r in (results if c == "verdict" else parted)) for c in columns}
    wanted = {c: n * len(results if c == "verdict" else parted) // of for c, (n, of) in WANTED.items()}
    for c in columns:
        of = len(results) if c == "verdict" else len(parted)
        goal = f" (asked for: {wanted[c]})" if c in wanted and len(results) == len(pairs) else ""
        print(f"{c:8s} {totals[c]} of {of}{goal}")
    for structure in ("same", "different"):
        some = [r for r in parted if pairs[r["pair"]]["structure"] == structure]
        print(f"located  {sum(bool(r['located']) for r in some)} of {len(some)} of {structure} structure")
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps({"totals": totals, "pairs": results}, indent=1) + "\n")
    if len(results) < len(pairs):
        return 0 if totals["verdict"] == len(results) else 1
    good = all(totals[c] >= n for c, n in wanted.items())
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
