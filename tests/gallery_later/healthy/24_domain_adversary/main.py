"""Features that tell the digit but not the scanner: the gradient of the second head is reversed on purpose."""
import torch
from torch import nn
import torch.nn.functional as F


class Reverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, strength):
        ctx.strength = strength
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        return -ctx.strength * grad, None


class Dann(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(10, 40), nn.ReLU(), nn.Linear(40, 16), nn.ReLU())
        self.digit = nn.Linear(16, 3)
        self.scanner = nn.Sequential(nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 2))

    def forward(self, x, strength):
        h = self.features(x)
        return self.digit(h), self.scanner(Reverse.apply(h, strength))


def scans(n):
    y, s = torch.randint(0, 3, (n,)), torch.randint(0, 2, (n,))
    x = 0.6 * torch.randn(n, 10)
    x[torch.arange(n), y] += 1.5
    x[:, 5] += 1.5 * (2 * s - 1)
    return x, y, s


torch.manual_seed(224)
net = Dann()
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
for step in range(80):
    x, y, s = scans(96)
    strength = 0.4 * step / 80
    digit, scanner = net(x, strength)
    digit_loss, scanner_loss = F.cross_entropy(digit, y), F.cross_entropy(scanner, s)
    opt.zero_grad()
    (digit_loss + scanner_loss).backward()
    opt.step()
    if step % 16 == 15:
        print(f"{step + 1} digit {digit_loss.item():.4f} scanner {scanner_loss.item():.4f} strength {strength:.2f}")
