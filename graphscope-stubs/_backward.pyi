# Made by `make docs`: where the module is that people import by this name.
from graphscope.engine._backward import *
