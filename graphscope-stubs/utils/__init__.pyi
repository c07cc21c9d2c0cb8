# Made by `make docs`: where the module is that people import by this name.
from graphscope.engine.utils import *
from . import checkpoint as checkpoint
from . import data as data
