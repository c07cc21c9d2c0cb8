"""Wind forecast with dilated causal convolutions."""
import torch
from torch import nn
import torch.nn.functional as F
from torch.nn.utils.parametrizations import weight_norm


class Causal(nn.Module):
    def __init__(self, inp, out, dilation):
        super().__init__()
        self.pad = 2 * dilation
        self.conv = nn.Conv1d(inp, out, 3, dilation=dilation)

    def forward(self, x):
        return F.elu(self.conv(F.pad(x, (self.pad, 0))))


class TCN(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.stack = nn.Sequential(*[Causal(1 if d == 1 else width, width, d) for d in (1, 2, 4)])
        self.out = nn.Linear(width, 1)

    def forward(self, x):
        return self.out(self.stack(x)[:, :, -1]).squeeze(1)


def normalise_weights(module):
    if isinstance(module, nn.Conv1d):
        weight_norm(module)


class Trainer:
    def __init__(self, net, lr):
        self.net = net
        self.net.apply(normalise_weights)
        self.opt = torch.optim.Adam(net.parameters(), lr=lr)

    def batch(self, n=48, length=24):
        t = torch.arange(length + 1) * 0.4
        f, p = 0.5 + torch.rand(n, 1), 6.28 * torch.rand(n, 1)
        x = torch.sin(f * t + p) + 0.5 * torch.cos(2.3 * f * t) + 0.05 * torch.randn(n, length + 1)
        return x[:, None, :-1], x[:, -1]

    def step(self):
        x, y = self.batch()
        loss = F.mse_loss(self.net(x), y)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return loss.item()


torch.manual_seed(114)
trainer = Trainer(TCN(), lr=5e-3)
for i in range(1, 81):
    loss = trainer.step()
    if i % 16 == 0:
        print(f"step {i} mse {loss:.4f}")
