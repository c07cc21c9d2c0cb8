"""interrupted.py LIBRARY FOLDER CAPTURE KIND: interrupt a recorded step in each function that an unrecorded one does
not reach in that way, once.

The handler raises what is easiest to take for an error of the recorder's own. Prints how often the program was
interrupted, how many of those exceptions it got, and whether rows are kept afterwards.
"""

import linecache
import signal
import sys
from pathlib import Path
from types import CodeType

import graphscope as gs

STEPS = {
    "torch": """
import torch
torch.set_grad_enabled(True)  # a program that is interrupted while it turns it off has to see to that itself
weight = torch.ones(4, requires_grad=True)
layer = torch.nn.Linear(4, 2)
layer(torch.ones(3, 4)).sum().backward()
view = (weight * 2)[0]
view.add_(1.0)
parts = torch.split(weight * 3, 2)
(parts[0] * parts[1]).sum().backward()
with torch.inference_mode():
    torch.ones(2) * 2
try:
    torch.ones(2) @ torch.ones(3)
except RuntimeError:
    pass
del layer, view, parts, weight
""",
    "view": """
import torch
view = (torch.ones(4, requires_grad=True) * 2)[0]
view.add_(1.0)
del view
""",
    "optimizer": """
import torch
weight = torch.ones(2, requires_grad=True)
optimizer = torch.optim.SGD([weight])
(weight * weight).sum().backward()
optimizer.step()
del optimizer, weight
""",
    "graphscope": """
import graphscope as torch
weight = torch.ones(4, requires_grad=True)
view = (weight * 2)[0]
view.add_(1.0)
parts = torch.split(weight * 3, 2)
(parts[0] * parts[1]).sum().backward()
try:
    torch.ones(2) @ torch.ones(3)
except RuntimeError:
    pass
del view, parts, weight
""",
}


class Lost(Exception):
    pass


def main(library: str, folder: str, kind: type[BaseException]) -> None:
    raised = got = 0
    step = STEPS[library]
    every = 5 if sys.argv[3] == "ops" else 1  # of some thousand paths; each takes a step of its own

    def handler(number, frame) -> None:
        raise kind("took too long")

    signal.signal(signal.SIGUSR1, handler)
    exec(step, {})  # what happens once in a process
    plain = ways_of(step)
    with gs.record(Path(folder) / "run.gscope", capture=sys.argv[3]) as log:
        exec(step, {})
        done: set[tuple[CodeType, ...]] = set()
        while True:
            before = len(done)

            def watch(frame, event, argument) -> None:
                nonlocal raised
                # Python asks for signals where a function begins, not where a generator is closed.
                if event == "call" and frame.f_lasti <= 0:
                    stack = codes(frame)
                    if stack not in plain and stack not in done:
                        done.add(stack)
                        if len(done) % every == 0:
                            raised += 1
                            sys.setprofile(None)
                            signal.raise_signal(signal.SIGUSR1)

            code = compiled(step, f"step{before}.py")  # new call sites each time
            sys.setprofile(watch)
            try:
                exec(code, {"__name__": "__main__"})
            except kind:
                got += 1
            finally:
                sys.setprofile(None)
            if len(done) == before:
                break
        before = log.end
        exec(compiled(step, "last.py"), {"__name__": "__main__"})
        log.refresh()
    print(raised, got, log.end > before, any("last.py" in str(site) for site in log.table("sites")))


def ways_of(step: str) -> set[tuple[CodeType, ...]]:
    """Each way in which a step reaches a function."""
    found: set[tuple[CodeType, ...]] = set()
    code = compiled(step, "step.py")
    sys.setprofile(lambda frame, event, argument: found.add(codes(frame)) if event == "call" else None)
    try:
        exec(code, {"__name__": "__main__"})
    finally:
        sys.setprofile(None)
    return found


def compiled(step: str, name: str) -> CodeType:
    linecache.cache[name] = len(step), None, step.splitlines(keepends=True), name
    return compile(step, name, "exec")


def codes(frame) -> tuple[CodeType, ...]:
    """What is called by what, up to the program's own code."""
    found = []
    while frame is not None and not frame.f_code.co_filename.startswith("step"):
        found.append(frame.f_code)
        frame = frame.f_back
    return tuple(found)


main(sys.argv[1], sys.argv[2], {"OSError": TimeoutError, "RuntimeError": RuntimeError, "own": Lost}[sys.argv[4]])
