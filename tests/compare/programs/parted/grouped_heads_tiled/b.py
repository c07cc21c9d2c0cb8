import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(11)


class Attention(nn.Module):
    def __init__(self, width: int, heads: int, groups: int) -> None:
        super().__init__()
        self.heads, self.groups, self.size = heads, groups, width // heads
        self.query = nn.Linear(width, width, bias=False)
        self.key = nn.Linear(width, groups * self.size, bias=False)
        self.value = nn.Linear(width, groups * self.size, bias=False)
        self.out = nn.Linear(width, width, bias=False)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        batch, length, width = inputs.shape
        query = self.query(inputs).view(batch, length, self.heads, self.size).transpose(1, 2)
        key = self.key(inputs).view(batch, length, self.groups, self.size).transpose(1, 2)
        value = self.value(inputs).view(batch, length, self.groups, self.size).transpose(1, 2)
        times = self.heads // self.groups
        key = key.repeat(1, times, 1, 1)  # <-- forward another order
        value = value.repeat(1, times, 1, 1)
        scores = query @ key.transpose(-2, -1) / self.size**0.5
        future = torch.triu(torch.ones(length, length, dtype=torch.bool), 1)
        mixed = scores.masked_fill(future, float("-inf")).softmax(-1) @ value
        return self.out(mixed.transpose(1, 2).reshape(batch, length, width))


layer = Attention(16, 4, 2)
inputs = torch.randn(2, 5, 16)
loss = layer(inputs).square().mean()
loss.backward()
