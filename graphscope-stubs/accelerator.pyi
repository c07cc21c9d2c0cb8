# Made by `make docs`: where the module is that people import by this name.
from graphscope.engine.devices import current_accelerator as current_accelerator
from graphscope.engine.devices import device_count as device_count
from graphscope.engine.devices import is_available as is_available
