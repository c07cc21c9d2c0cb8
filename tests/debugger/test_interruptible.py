"""Work is interrupted, and the process goes on as if nothing had been."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import random, sys, threading

from graphscope.debugger.interruptible import Interruptible
from graphscope.errors import CommandError

sys.setswitchinterval(1e-6)
chance = random.Random(1)
for _ in range(200):
    count = chance.randrange(3000)
    work = Interruptible(lambda: sum(number for number in range(count)))

    def do():
        try:
            assert work.do() == count * (count - 1) // 2
        except CommandError:
            pass

    thread = threading.Thread(target=do)
    thread.start()
    for _ in range(chance.randrange(20)):
        work.interrupt()
    thread.join()
sys.setprofile(lambda *_: None)
print(sum(map(int, "12")))
"""


def test_a_profile_function_runs_after_interrupts_at_any_moment() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=120, check=False)
    assert (done.stdout, done.stderr) == ("3\n", "")
