"""Every panel of the inspector, one a file of its own name; importing this package fills the table."""

from importlib import import_module
from pkgutil import iter_modules

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")
