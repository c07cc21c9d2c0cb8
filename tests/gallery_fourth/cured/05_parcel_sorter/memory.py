import torch
from torch import nn


class ClassMeans(nn.Module):
    """A slowly moving mean of the embeddings of each class (the pull of a center loss)."""

    def __init__(self, classes, dim, momentum=0.8):
        super().__init__()
        self.momentum = momentum
        self.register_buffer("means", torch.zeros(classes, dim))

    def update(self, z, y):
        onehot = nn.functional.one_hot(y, len(self.means)).to(z)
        now = onehot.T @ z / onehot.sum(0).clamp(min=1).unsqueeze(1)
        seen = (onehot.sum(0) > 0).unsqueeze(1)
        mixed = self.momentum * self.means + (1 - self.momentum) * now
        self.means = torch.where(seen, mixed, self.means).detach()

    def forward(self, z, y):
        return (z - self.means[y]).pow(2).sum(1).mean()
