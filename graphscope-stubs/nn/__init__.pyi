# Made by `make docs`: where the module is that people import by this name.
from graphscope.engine.nn import *
from . import functional as functional
from . import init as init
from . import modules as modules
from . import parallel as parallel
from . import parameter as parameter
from . import utils as utils
