# Made by `make docs`: where the module is that people import by this name.
from graphscope.engine.autograd import *
from . import function as function
from . import functional as functional
from . import graph as graph
