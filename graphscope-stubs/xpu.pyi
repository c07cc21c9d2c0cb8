# Made by `make docs`: where the module is that people import by this name.
from graphscope.engine.devices import device_count as device_count
from graphscope.engine.devices import wait as empty_cache
from graphscope.engine.devices import is_available as is_available
from graphscope.engine.devices import manual_seed as manual_seed
from graphscope.engine.devices import wait as synchronize
