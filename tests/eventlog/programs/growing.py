"""Record as many rows as each line of the input says, and answer with the number of the next row."""

import sys

import numpy as np

from graphscope.eventlog.schema import Kind
from graphscope.eventlog.writer import Writer

writer = Writer(__import__("pathlib").Path(sys.argv[1]), keep_last=int(sys.argv[2]) or None)
template = writer.template(Kind.OP, shape=(300,), dtype=np.dtype("f4"), input_count=1)
print(writer.end, flush=True)
for line in sys.stdin:
    for _ in range(int(line)):
        row = writer.append(template, np.full(300, writer.end, "f4"), 0, 0, 0, max(writer.end - 1, 0))
        if row % 10 == 9:
            writer.step()
    print(writer.end, flush=True)
