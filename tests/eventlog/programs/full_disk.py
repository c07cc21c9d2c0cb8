"""Record more than there is room for; the program's own result is printed, whatever becomes of the log."""

import sys

import numpy as np

import graphscope as gs
from graphscope.eventlog.record import active

path, limit, count, size = sys.argv[1], *map(int, sys.argv[2:5])
if limit:
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
with gs.record(path) as log:
    total = gs.tensor(np.zeros(size, np.float32))
    for number in range(count):
        total = total + float(number % 7)
        if number % 100 == 0:
            log.refresh()
    assert active() is not None
print(float(total.sum()) / size)
