# Made by `make docs`: where the module is that people import by this name.
from graphscope.engine.devices import GradScaler as GradScaler
from graphscope.engine.devices import autocast as autocast
