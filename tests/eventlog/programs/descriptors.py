"""descriptors.py WHAT: records while the program uses up its descriptors (`scarce`), or closes those that it does not
know and opens files of its own (`closed`). Prints what became of the rows, and how large the program's files are.
"""

import os
import sys

import graphscope as gs
from graphscope.eventlog.reader import load

large, small = gs.ones(100_000), gs.ones(3)
mine = []
with gs.record("run.gscope", budget=1 << 23) as log:
    path = log.path
    for _ in range(4):
        large * 2.0
    if sys.argv[1] == "scarce":
        try:
            while True:
                mine.append(os.open(os.devnull, os.O_RDONLY))
        except OSError:
            pass
    else:
        os.closerange(3, 256)
        mine = [os.open(f"mine{number}", os.O_RDWR | os.O_CREAT) for number in range(20)]
        for file in mine:
            os.write(file, b"my own data\n")
    for _ in range(6000):
        small * 2.0
    for number in range(60):
        gs.exp(large * float(number))
        if number == 30 and sys.argv[1] == "scarce":
            for file in mine:
                os.close(file)
if sys.argv[1] == "closed":
    print(*{os.read(file, 1 << 20) + os.pread(file, 100, 0) for file in mine})
log = load(path)
print(log.end, log.metadata.get("stopped"), log.closed)
