"""What programs ask of `torch.version`: there is no CUDA and no ROCm."""

from typing import Final

from graphscope import __version__ as __version__

cuda: Final = None
hip: Final = None
debug: Final = False
