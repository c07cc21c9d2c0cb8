"""Unfreezing a pretrained net from the top, group after group."""
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.low = nn.Sequential(nn.Linear(14, 48), nn.ReLU())
        self.mid = nn.Sequential(nn.Linear(48, 48), nn.ReLU())
        self.head = nn.Linear(48, classes)

    def forward(self, x):
        return self.head(self.mid(self.low(x)))


class Problem:
    def __init__(self, w):
        self.w = w

    def __call__(self, n=64):
        x = torch.randn(n, 14)
        return x, (x @ self.w).argmax(1)


def run(net, opt, problem, steps, title):
    for _ in range(steps):
        x, y = problem()
        loss = nn.functional.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(f"{title}: loss {loss.item():.4f}")


def main():
    torch.manual_seed(39)
    w = torch.randn(14, 4)
    net = Net(4)
    run(net, torch.optim.Adam(net.parameters(), lr=1e-2), Problem(w), 30, "source task")

    net.head = nn.Linear(48, 3)
    target = Problem(w[:, :3] + 0.5 * torch.randn(14, 3))
    for part in (net.low, net.mid):
        part.requires_grad_(False)
    opt = torch.optim.Adam(net.head.parameters(), lr=1e-2)
    run(net, opt, target, 25, "head alone")
    net.mid.requires_grad_(True)
    opt.add_param_group({"params": net.mid.parameters(), "lr": 5e-3})
    run(net, opt, target, 25, "head and middle")
    net.low.requires_grad_(True)
    opt.add_param_group({"params": net.low.parameters(), "lr": 2e-3})
    run(net, opt, target, 25, "everything")


if __name__ == "__main__":
    main()
