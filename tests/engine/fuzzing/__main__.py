"""Runs many random programs on both engines: `python -m tests.engine.fuzzing --programs 20000`.

Prints the programs that show a difference, as short as they can be made, and exits with 1 when there are any.
"""

from __future__ import annotations

import argparse
import sys
import time

from .pool import Pool, Seeded
from .statements import KINDS, READY, Kind, statement
from .twin import MAY_BE_REFUSED, SAVES_MORE, Difference, Twin, as_text, in_float64, shrunk
from .wider import WIDER

SHORTEST, LONGEST = 5, 60


def program(
    seed: int,
    kinds: dict[str, Kind] = READY,
    longest: int = LONGEST,
    may_be_refused: tuple[str, ...] = MAY_BE_REFUSED,
) -> tuple[list[str], Difference | None]:
    """Make and run the program of a seed; its statements, and the difference at the last of them, if one showed."""
    choice = Seeded(seed)
    twin = Twin(may_be_refused)
    pool = Pool(choice, twin.torch, twin.ours)
    with in_float64():
        twin.run(KINDS["leaf"].maker(pool) or "")
        for _ in range(choice.integer(SHORTEST, longest) - 1):
            line = statement(pool, kinds)
            found = None if line is None else twin.run(line)
            if found is not None:
                return twin.statements, found
    return twin.statements, None


def main(arguments: list[str] | None = None) -> int:
    """Run the programs, and tell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--without", action="append", default=[], choices=sorted(KINDS))
    parser.add_argument("--most", type=int, default=10, help="stop after so many differences")
    parser.add_argument("--ignore", action="append", default=[], help="a kind of difference: missing, value, grad, ...")
    parser.add_argument("--wider", action="store_true", help="with the statements of `wider` among the others")
    options = parser.parse_args(arguments)
    every = WIDER if options.wider else KINDS
    kinds = {name: kind for name, kind in every.items() if name not in options.without}
    may_be_refused = MAY_BE_REFUSED + SAVES_MORE if options.wider else MAY_BE_REFUSED
    started = time.perf_counter()
    differences = statements = 0
    seen: set[str] = set()
    for seed in range(options.seed, options.seed + options.programs):
        lines, found = program(seed, kinds, may_be_refused=may_be_refused)
        statements += len(lines)
        if found is None or found.kind in options.ignore:
            continue
        differences += 1
        short, found = shrunk(lines, found, may_be_refused)
        text = as_text(short, found)
        mark = f"{found.kind} {len(short)} {short[-1].split('=')[-1][:12]}"
        if mark not in seen:
            seen.add(mark)
            print(f"\n# seed {seed}\n{text}", flush=True)
        if len(seen) >= options.most:
            break
    seconds = time.perf_counter() - started
    print(f"\n{seed + 1 - options.seed} programs, {statements} statements, {differences} differ, {seconds:.0f} s")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
