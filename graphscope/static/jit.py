"""Functions as graphs: traced from a run, scripted from their source, compiled. `import graphscope.jit`."""

from graphscope.engine.absent import answer_for as _answer_for
from graphscope.static.passes import PASSES as PASSES
from graphscope.static.passes import changes as changes
from graphscope.static.passes import history as history
from graphscope.static.passes import optimise as optimise
from graphscope.static.script import Scripted as Scripted
from graphscope.static.script import ScriptError as ScriptError
from graphscope.static.script import script as script
from graphscope.static.tracing.compiled import BACKENDS as BACKENDS
from graphscope.static.tracing.compiled import Compiled as Compiled
from graphscope.static.tracing.compiled import compile as compile
from graphscope.static.tracing.compiled import value_and_grad as value_and_grad
from graphscope.static.tracing.guards import GuardError as GuardError
from graphscope.static.tracing.nonfinite import blame as blame
from graphscope.static.tracing.trace import Frozen as Frozen
from graphscope.static.tracing.trace import Traced as Traced
from graphscope.static.tracing.trace import trace as trace

_answer_for(__name__, "graphscope.jit")
