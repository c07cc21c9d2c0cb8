# Made by `make docs`: where the module is that people import by this name.
from graphscope.engine.distributions import *
from . import constraints as constraints
