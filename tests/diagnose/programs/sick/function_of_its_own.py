import torch
import torch.nn as nn

torch.manual_seed(0)


class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 2 * x.abs() / x.abs()  # <-- nan


net = nn.Sequential(nn.Linear(16, 64), nn.Hardtanh(0.0, 1.0), nn.Linear(64, 64, bias=False))
with torch.no_grad():
    net[2].weight[3] = 0
opt = torch.optim.SGD(net.parameters(), lr=1e-3)
for step in range(6):
    loss = Scale.apply(net(torch.randn(64, 16))).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
