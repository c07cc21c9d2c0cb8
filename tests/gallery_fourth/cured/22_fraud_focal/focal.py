import torch
from torch import nn
from torch.nn import functional as F


class FocalLoss(nn.Module):
    def __init__(self, alpha=0.5, gamma=2.0):
        super().__init__()
        self.alpha, self.gamma = alpha, gamma

    def forward(self, logits, target):
        p = torch.sigmoid(logits)
        positive = -self.alpha * (1 - p) ** self.gamma * F.logsigmoid(logits)
        negative = -(1 - self.alpha) * p**self.gamma * F.logsigmoid(-logits)
        return (target * positive + (1 - target) * negative).mean()
