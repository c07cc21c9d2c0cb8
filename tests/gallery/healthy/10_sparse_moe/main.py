"""Top-1 mixture of experts: in many batches some experts get no token."""
import torch
from torch import nn
import torch.nn.functional as F


class MoE(nn.Module):
    def __init__(self, dim, experts, hidden=16):
        super().__init__()
        self.gate = nn.Linear(dim, experts)
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(dim, hidden), nn.GELU(), nn.Linear(hidden, dim)) for _ in range(experts))

    def forward(self, x):
        prob = self.gate(x).softmax(-1)
        weight, index = prob.max(dim=-1)
        out = torch.zeros_like(x)
        for i, expert in enumerate(self.experts):
            chosen = index == i
            if chosen.any():
                out[chosen] = weight[chosen, None] * expert(x[chosen])
        load = F.one_hot(index, len(self.experts)).float().mean(0)
        return x + out, len(self.experts) * (load * prob.mean(0)).sum()


class Net(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.inp, self.moe, self.out = nn.Linear(5, dim), MoE(dim, 8), nn.Linear(dim, 1)

    def forward(self, x):
        h, balance = self.moe(self.inp(x))
        return self.out(h).squeeze(1), balance


if __name__ == "__main__":
    torch.manual_seed(6)
    net = Net()
    opt = torch.optim.Adam(net.parameters(), lr=1e-2)
    for step in range(100):
        x = torch.randn(24, 5)
        y = x[:, 0].abs() * torch.sign(x[:, 1]) + x[:, 2]
        pred, balance = net(x)
        loss = F.mse_loss(pred, y) + 0.01 * balance
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 20 == 19:
            print(f"{step + 1}: {loss.item():.4f}")
