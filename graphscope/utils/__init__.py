"""What goes with training: checkpoints and data, under the names that PyTorch's users look for."""

from graphscope.utils import checkpoint as checkpoint
from graphscope.utils import data as data
