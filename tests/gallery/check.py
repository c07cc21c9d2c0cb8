"""Keeps the gallery true: twins, lines and kinds; with --run also that every program runs.

python tests/gallery/check.py                      # the static part, a second
python tests/gallery/check.py --run                # runs all programs, one at a time (some minutes)
python tests/gallery/check.py --run --only 07 23   # those whose name begins so
"""

from __future__ import annotations

import argparse
import difflib
import importlib
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

HERE = pathlib.Path(__file__).resolve().parent
WANTED = {"sick": 45, "cured": 45, "healthy": 40}
GIVEAWAY = re.compile(r"\b(bug|buggy|broken|fixme|fault|faulty|wrong|mistake|culprit|oops|sick|cured)\b", re.IGNORECASE)

# Lines of expected.json that do not differ between the sick program and its twin (nor stand beside an
# inserted line) but are tied to the fault: (program, line) -> why a finger may point there.
TIED = {
    ("01_char_lstm", "loss.backward()"): "raises the exception",
    ("04_review_encoder", "weights = scores.softmax(dim=-1)"): "the op that makes the NaN of a row of -inf",
    ("07_audio_tagger", "mixed = torch.softmax(scores, dim=-1).to(v.dtype) @ v"): "the op that makes NaN of the inf",
    ("09_turbine_depth", "return self.act(self.dense(x))"): "where the activation is applied",
    ("10_adding_problem", "return torch.relu(self.wx(x) + self.wh(h))"): "the recurrence that grows",
    ("11_click_rate", "layers += [nn.Linear(a, b), nn.ReLU()]"): "where the dead ReLU is made",
    ("11_click_rate", "return self.layers(x)"): "where the dead ReLU is called",
    ("14_shop_towers", "return F.normalize(self.text(title), dim=1)"): "first line that receives the cut tensor",
    ("15_sprite_codes", "index = dist.argmin(dim=1)"): "the op without a derivative",
    ("16_ring_critic", "return ((norm - 1) ** 2).mean(), norm.mean().item()"): "the penalty that has no graph",
    ("18_date_translate", "opt = torch.optim.Adam(weights, lr=8e-3)"): "where the optimizer is made",
    ("19_flower_finetune", "p.requires_grad = False"): "the statement that freezes",
    (
        "20_label_growth",
        "self.opt = torch.optim.SGD(self.net.parameters(), lr=0.05, momentum=0.9)",
    ): "the optimizer that goes stale",
    ("20_label_growth", "self.head = nn.Linear(old.in_features, classes)"): "replaces what the optimizer holds",
    ("21_cell_segment", "self.conv2 = nn.Conv2d(out, out, 3, padding=1)"): "where the unused layer is made",
    (
        "22_chess_ratings",
        "optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)",
    ): "the optimizer of bfloat16 weights",
    ("22_chess_ratings", "optimizer.step()"): "the step that changes nothing",
    (
        "23_ecg_conv",
        "scheduler = optim.lr_scheduler.ExponentialLR(opt, gamma=args.gamma)",
    ): "where the scheduler is made",
    (
        "24_linear_scaling",
        "opt = torch.optim.AdamW(model.parameters(), lr=cfg.lr, weight_decay=cfg.weight_decay)",
    ): "the optimizer that gets the rate of zero",
    ("25_spiral", "loss.backward()"): "adds to the gradients of the step before",
    ("25_spiral", "optimizer.step()"): "steps with the sum of all gradients",
    ("26_graph_nodes", "loss.backward()"): "one of the three calls in the wrong order",
    ("26_graph_nodes", "self.optimizer.step()"): "one of the three calls in the wrong order",
    ("29_noise_removal", "rough = (out[..., 1:] - out[..., :-1]).pow(2).mean()"): "the value whose graph is kept",
    ("29_noise_removal", "self.curves.setdefault(name, []).append(value)"): "where the graph is kept",
    ("33_digit_strokes", "loss = criterion(outputs, labels)"): "the loss that applies softmax again",
    ("34_toxic_tags", "loss = criterion(out, y)"): "the loss that applies the sigmoid again",
    ("34_toxic_tags", "return self.net(x)"): "where the container with the sigmoid is called",
    ("35_loan_default", "return x, y"): "the function that makes the data",
    ("36_census_income", "x = torch.tanh(self.hidden1(x))"): "the layer that gets the raw columns",
    (
        "36_census_income",
        "return torch.stack([age, schooling, capital, weekly, code], dim=1)",
    ): "puts the raw columns together",
    ("37_leaf_shapes", "model.eval()"): "switches the mode that is never switched back",
    ("38_gesture_glove", "def evaluate(model, batches):"): "the function that should switch the mode",
    ("38_gesture_glove", "logits = model(x)"): "the pass that runs in the wrong mode",
    ("39_adapter_tuning", "nn.init.zeros_(self.b)"): "the other factor, zero on purpose",
    (
        "39_adapter_tuning",
        "return self.base(x) + self.scale * F.linear(F.linear(x, self.a), self.b)",
    ): "the product of two zeros",
    ("41_poem_model", "optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.lr)"): "where the rate is used",
    ("43_event_gaps", "gaps = times[:, 1:] - times[:, :-1]"): "the difference that comes out as zero",
    ("44_tied_reader", "self.decoder.weight = self.encoder.weight"): "the tie that is undone",
    ("45_spam_words", "words = {w for text in texts for w in text}"): "makes the set whose order varies",
}


def source(kind: str, name: str, file: str) -> list[str]:
    return (HERE / kind / name / file).read_text().splitlines()


def differing(old: list[str], new: list[str]) -> set[int]:
    """1-based lines of `old` that are changed or removed, or stand beside an insertion."""
    lines: set[int] = set()
    for tag, i1, i2, _, _ in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag in ("replace", "delete"):
            lines.update(range(i1 + 1, i2 + 1))
        elif tag == "insert":
            lines.update((i1, i1 + 1))
    return lines


def files_of(folder: pathlib.Path) -> set[str]:
    return {str(p.relative_to(folder)) for p in folder.rglob("*.py")}


def static() -> list[str]:
    wrong: list[str] = []
    expected = json.loads((HERE / "expected.json").read_text())
    kinds, entries = expected["kinds"], expected["programs"]
    for kind, count in WANTED.items():
        have = sorted(p.name for p in (HERE / kind).iterdir() if (p / "main.py").exists())
        if len(have) != count:
            wrong.append(f"{kind}: {len(have)} programs, {count} wanted")
        if kind != "healthy" and have != sorted(e["program"].removeprefix("sick/") for e in entries):
            wrong.append(f"{kind}: names differ from expected.json")
    used: set[tuple[str, str]] = set()
    for entry in entries:
        name = entry["program"].removeprefix("sick/")
        if files_of(HERE / "sick" / name) != files_of(HERE / "cured" / name):
            wrong.append(f"{name}: the twin has other files")
            continue
        changed = [f for f in files_of(HERE / "sick" / name) if source("sick", name, f) != source("cured", name, f)]
        if len(changed) != 1:
            wrong.append(f"{name}: {len(changed)} files differ from the twin")
        if entry["kind"] not in kinds:
            wrong.append(f"{name}: kind {entry['kind']} is not defined")
        wrong += [f"{name}: {key} is no sentence" for key in ("symptom", "cure") if not entry[key].endswith(".")]
        if not 1 <= len(entry["lines"]) <= 4:
            wrong.append(f"{name}: {len(entry['lines'])} lines named")
        pointed = [(entry["file"], n) for n in entry["lines"]]
        pointed += [(place["file"], n) for place in entry.get("elsewhere", []) for n in place["lines"]]
        for file, n in pointed:
            old = source("sick", name, file)
            text = old[n - 1].strip() if 0 < n <= len(old) else ""
            if not text or text.startswith("#"):
                wrong.append(f"{name}: {file}:{n} is empty or a comment")
            elif n not in differing(old, source("cured", name, file)):
                used.add((name, text))
                if (name, text) not in TIED:
                    wrong.append(f"{name}: {file}:{n} is the same in the twin and not excepted: {text}")
    wrong += [f"{name}: exception not needed: {text}" for name, text in sorted(TIED.keys() - used)]
    for path in sorted(p for kind in WANTED for p in (HERE / kind).rglob("*.py")):
        for n, line in enumerate(path.read_text().splitlines(), 1):
            if GIVEAWAY.search(line):
                wrong.append(f"{path.relative_to(HERE)}:{n}: gives something away: {line.strip()}")
    return wrong


def play(folder: pathlib.Path, limit: float) -> tuple[int, str]:
    """Runs main.py in a child that inherits the imported torch; exit status and last line printed."""
    with tempfile.TemporaryFile("w+") as out:
        child = os.fork()
        if child == 0:
            code = 1
            try:
                os.dup2(out.fileno(), 1)
                os.dup2(out.fileno(), 2)
                os.chdir(folder)
                sys.argv, sys.path[0] = ["main.py"], str(folder)
                signal.alarm(max(1, int(limit)))
                runpy.run_path("main.py", run_name="__main__")
                code = 0
            except SystemExit as end:
                code = int(end.code or 0)
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        out.seek(0)
        printed = out.read().strip().splitlines()
    return code, printed[-1] if printed else ""


def run(only: list[str], limit: float) -> list[str]:
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.dont_write_bytecode = True
    importlib.import_module("torch.utils.data")  # once, before the children are made

    wrong: list[str] = []
    expected = json.loads((HERE / "expected.json").read_text())["programs"]
    status = {e["program"]: e.get("exit", 0) for e in expected}
    for kind in WANTED:
        for folder in sorted((HERE / kind).iterdir()):
            if not (folder / "main.py").exists() or (only and not folder.name.startswith(tuple(only))):
                continue
            begin = time.time()
            code, last = play(folder, limit)
            name = f"{kind}/{folder.name}"
            good = code == status.get(name, 0)
            print(f"{'ok ' if good else 'BAD'} {name:32s} {time.time() - begin:5.1f} s  {last[:90]}", flush=True)
            if not good:
                wrong.append(f"{name}: exit status {code}, expected {status.get(name, 0)}")
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--run", action="store_true", help="run the programs as well")
    parser.add_argument("--only", nargs="*", default=[], help="beginnings of names")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for one program")
    args = parser.parse_args()
    wrong = static()
    if args.run:
        wrong += run(args.only, args.limit)
    print("\n".join(wrong) if wrong else "the gallery is in order")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
