"""Every verb of the debugger, each once; importing this package fills the table."""

from graphscope.debugger.commands import breakpoints as breakpoints
from graphscope.debugger.commands import comparison as comparison
from graphscope.debugger.commands import diagnosis as diagnosis
from graphscope.debugger.commands import edits as edits
from graphscope.debugger.commands import frames as frames
from graphscope.debugger.commands import graph as graph
from graphscope.debugger.commands import inside as inside
from graphscope.debugger.commands import node_lists as node_lists
from graphscope.debugger.commands import printing as printing
from graphscope.debugger.commands import python as python
from graphscope.debugger.commands import ranks as ranks
from graphscope.debugger.commands import runs as runs
from graphscope.debugger.commands import shell as shell
from graphscope.debugger.commands import sources as sources
from graphscope.debugger.commands import stepping as stepping
from graphscope.debugger.commands import tensors as tensors
from graphscope.debugger.commands import time as time
from graphscope.debugger.commands import training_steps as training_steps
from graphscope.debugger.commands import walking as walking
from graphscope.debugger.commands import watches as watches
