import torch
from torch import nn


class Player(nn.Module):
    def __init__(self, cards, width=48):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2 * cards, width), nn.Tanh(), nn.Linear(width, cards))

    def forward(self, hand, allowed):
        logits = self.net(torch.cat([hand, allowed.float()], dim=1))
        return logits.masked_fill(~allowed, float("-inf")).softmax(dim=1)

    def entropy(self, probs):
        return -(probs * probs.log()).sum(dim=1)
