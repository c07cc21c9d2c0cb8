import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)


class FeedForward(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x):
        return x + self.down(F.gelu(self.up(x), approximate="tanh"))  # <-- forward


model = nn.Sequential(FeedForward(8), FeedForward(8), nn.Linear(8, 3))
x = torch.randn(6, 8)
target = torch.randn(6, 3)
loss = F.mse_loss(model(x), target)
loss.backward()
