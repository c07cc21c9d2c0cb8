"""Random numbers under the names of `torch.random`."""

from graphscope.engine.random import default_generator as default_generator
from graphscope.engine.random import fork_rng as fork_rng
from graphscope.engine.random import get_rng_state as get_rng_state
from graphscope.engine.random import initial_seed as initial_seed
from graphscope.engine.random import manual_seed as manual_seed
from graphscope.engine.random import seed as seed
from graphscope.engine.random import set_rng_state as set_rng_state
