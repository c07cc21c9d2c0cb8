# Made by `make docs`: where the module is that people import by this name.
from types import SimpleNamespace

cuda: SimpleNamespace
cudnn: SimpleNamespace
mkl: SimpleNamespace
mkldnn: SimpleNamespace
mps: SimpleNamespace
openmp: SimpleNamespace
