import torch
from torch.nn import functional as F


def fgsm(net, x, y, eps):
    """The image moved one step along the sign of its gradient."""
    x = x.clone().requires_grad_(True)
    F.cross_entropy(net(x), y).backward()
    return (x + eps * x.grad.sign()).detach()
