"""Functions as graphs: traced from a run, scripted from their source, compiled. `import graphscope.jit`."""

from graphscope.static.blame import blame as blame
from graphscope.static.compiling import BACKENDS as BACKENDS
from graphscope.static.compiling import Compiled as Compiled
from graphscope.static.compiling import compile as compile
from graphscope.static.compiling import value_and_grad as value_and_grad
from graphscope.static.passes import PASSES as PASSES
from graphscope.static.passes import changes as changes
from graphscope.static.passes import history as history
from graphscope.static.passes import optimise as optimise
from graphscope.static.reads import GuardError as GuardError
from graphscope.static.script import Scripted as Scripted
from graphscope.static.script import ScriptError as ScriptError
from graphscope.static.script import script as script
from graphscope.static.tracing import Frozen as Frozen
from graphscope.static.tracing import Traced as Traced
from graphscope.static.tracing import trace as trace
