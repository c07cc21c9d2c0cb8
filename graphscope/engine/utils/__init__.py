"""What goes with training: checkpoints and data, under the names that PyTorch's users look for."""

from graphscope.engine.utils import checkpoint as checkpoint
from graphscope.engine.utils import data as data
