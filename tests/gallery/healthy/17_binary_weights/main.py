"""Layers with weights of +1 and -1, trained straight through the sign."""
import torch
from torch import nn
import torch.nn.functional as F


class SignSTE(torch.autograd.Function):
    @staticmethod
    def forward(ctx, w):
        ctx.save_for_backward(w)
        return torch.where(w >= 0, 1.0, -1.0)

    @staticmethod
    def backward(ctx, grad):
        w, = ctx.saved_tensors
        return grad * (w.abs() <= 1).float()


class BinaryLinear(nn.Module):
    def __init__(self, inp, out):
        super().__init__()
        self.weight = nn.Parameter(0.3 * torch.randn(out, inp))
        self.scale = nn.Parameter(torch.full((out,), inp ** -0.5))

    def forward(self, x):
        return F.linear(x, SignSTE.apply(self.weight)) * self.scale


class BinaryNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.l1, self.n1 = BinaryLinear(16, 64), nn.LayerNorm(64)
        self.l2, self.n2 = BinaryLinear(64, 64), nn.LayerNorm(64)
        self.out = nn.Linear(64, 3)

    def forward(self, x):
        x = F.hardtanh(self.n1(self.l1(x)))
        x = F.hardtanh(self.n2(self.l2(x)))
        return self.out(x)


torch.manual_seed(16)
rule = torch.randn(16, 3)
net = BinaryNet()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(100):
    x = torch.randn(64, 16)
    y = (x @ rule).argmax(1)
    loss = F.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    with torch.no_grad():
        for m in (net.l1, net.l2):
            m.weight.clamp_(-1, 1)
    if step % 20 == 19:
        print(f"step {step + 1} loss {loss.item():.4f}")
