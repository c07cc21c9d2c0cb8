import torch


class Rounder(torch.nn.Module):
    """Codes on a grid of integers, kept within [-limit, limit]."""

    def __init__(self, limit=2):
        super().__init__()
        self.limit = limit

    def forward(self, z):
        z = z.clamp(-self.limit, self.limit)
        return z + (torch.round(z) - z).detach()

    def bits(self, codes):
        _, counts = torch.unique(codes, return_counts=True)
        p = counts / counts.sum()
        return -(p * p.log2()).sum().item()
