import torch
import torch.nn.functional as F


def wet_day_loss(logit, y):
    return F.binary_cross_entropy_with_logits(logit, (y > 0).float())


def amount_loss(amount, y):
    """Squared error of the square roots, on days where both are wet."""
    both = (y > 0) & (amount > 0)
    amount = torch.where(both, amount, torch.ones_like(amount))
    error = torch.where(both, (torch.sqrt(amount) - torch.sqrt(y)) ** 2, torch.zeros_like(amount))
    return error.sum() / both.sum().clamp(min=1)
