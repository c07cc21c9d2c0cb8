import torch
import torch.nn.functional as F


def reconstruction(out, x):
    return F.mse_loss(out, x, reduction="none").sum(dim=1).mean()


def divergence(mu, logvar):
    """Of N(mu, exp(logvar)) from the standard normal."""
    return -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp(), dim=1).mean()
