# Made by `make docs`: where the module is that people import by this name.
from graphscope.engine.devices import current_device as current_device
from graphscope.engine.devices import device_count as device_count
from graphscope.engine.devices import wait as empty_cache
from graphscope.engine.devices import is_available as is_available
from graphscope.engine.devices import is_available as is_bf16_supported
from graphscope.engine.devices import is_available as is_initialized
from graphscope.engine.devices import manual_seed as manual_seed
from graphscope.engine.devices import manual_seed as manual_seed_all
from graphscope.engine.devices import memory as max_memory_allocated
from graphscope.engine.devices import memory as max_memory_reserved
from graphscope.engine.devices import memory as memory_allocated
from graphscope.engine.devices import memory as memory_reserved
from graphscope.engine.devices import wait as reset_peak_memory_stats
from graphscope.engine.devices import wait as synchronize
from . import amp as amp
