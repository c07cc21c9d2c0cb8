"""Random numbers under the names of `torch.random`."""

from graphscope.engine.absent import answer_for as _answer_for
from graphscope.engine.core.generator import default_generator as default_generator
from graphscope.engine.core.generator import fork_rng as fork_rng
from graphscope.engine.core.generator import get_rng_state as get_rng_state
from graphscope.engine.core.generator import initial_seed as initial_seed
from graphscope.engine.core.generator import manual_seed as manual_seed
from graphscope.engine.core.generator import seed as seed
from graphscope.engine.core.generator import set_rng_state as set_rng_state

_answer_for(__name__)
