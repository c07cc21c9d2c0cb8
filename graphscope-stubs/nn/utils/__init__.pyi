# Made by `make docs`: where the module is that people import by this name.
from graphscope.engine.nn.utils import *
from . import parametrizations as parametrizations
from . import parametrize as parametrize
from . import rnn as rnn
