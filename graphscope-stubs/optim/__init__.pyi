# Made by `make docs`: where the module is that people import by this name.
from graphscope.engine.optim import *
from . import lr_scheduler as lr_scheduler
from . import optimizer as optimizer
