# Made by `make docs`: where the module is that people import by this name.
__version__: str
cuda: NoneType
debug: bool
hip: NoneType
