import torch
from torch import nn


class DiceLoss(nn.Module):
    def __init__(self, smooth=1.0):
        super().__init__()
        self.smooth = smooth

    def forward(self, logits, mask):
        p = torch.sigmoid(logits).flatten(1)
        m = mask.flatten(1)
        shared = 2 * (p * m).sum(1) + self.smooth
        dice = shared / (p.sum(1) + m.sum(1) + self.smooth)
        return 1 - dice.mean()
