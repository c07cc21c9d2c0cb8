"""`graphscope dap`; what goes by in either direction is kept in the folder that SPOKEN names, for a test to look at."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path


def pass_on(come, go, name):
    with Path(os.environ["SPOKEN"], name).open("wb") as kept:
        while data := os.read(come.fileno(), 1 << 16):
            kept.write(data)
            kept.flush()
            go.write(data)
            go.flush()
    go.close()


pipe = subprocess.PIPE
with subprocess.Popen([sys.executable, "-m", "graphscope", "dap"], stdin=pipe, stdout=pipe) as adapter:
    signal.signal(signal.SIGTERM, lambda number, frame: adapter.send_signal(number))
    threading.Thread(target=pass_on, args=(sys.stdin.buffer, adapter.stdin, "asked"), daemon=True).start()
    pass_on(adapter.stdout, sys.stdout.buffer, "told")
sys.exit(adapter.returncode)
