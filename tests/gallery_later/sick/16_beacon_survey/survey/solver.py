import torch
from torch import nn


class Positions(nn.Module):
    def __init__(self, guess):
        super().__init__()
        self.east = nn.Parameter(guess[:, 0].clone())
        self.north = nn.Parameter(guess[:, 1].clone())

    def forward(self, receivers):
        de = self.east[:, None] - receivers[None, :, 0]
        dn = self.north[:, None] - receivers[None, :, 1]
        return torch.sqrt(de * de + dn * dn).float()
