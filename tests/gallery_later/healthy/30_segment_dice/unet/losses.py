import torch
import torch.nn.functional as F


def dice_score(p, mask, smooth=1.0):
    overlap = (p * mask).sum((1, 2, 3))
    return ((2 * overlap + smooth) / (p.sum((1, 2, 3)) + mask.sum((1, 2, 3)) + smooth)).mean()


def total_loss(out, mask):
    dice = dice_score(torch.sigmoid(out), mask)
    return F.binary_cross_entropy_with_logits(out, mask) + 1 - dice, dice.item()
