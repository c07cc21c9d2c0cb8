# Made by `make docs`: where the module is that people import by this name.
from graphscope.engine.devices import is_available as is_available
from graphscope.engine.devices import is_available as is_initialized
