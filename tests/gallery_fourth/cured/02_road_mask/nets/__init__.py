from .unet import TinyUNet

__all__ = ["TinyUNet"]
