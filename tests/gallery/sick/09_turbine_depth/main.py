"""Deep classifier of turbine states from sensor windows."""
import torch
import torch.nn as nn


class DenseAct(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.dense = nn.Linear(width, width)
        nn.init.kaiming_normal_(self.dense.weight, nonlinearity="relu")
        nn.init.zeros_(self.dense.bias)
        self.act = nn.Sigmoid()

    def forward(self, x):
        return self.act(self.dense(x))


class Stage(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.blocks = nn.Sequential(*[DenseAct(width) for _ in range(depth)])

    def forward(self, x):
        return self.blocks(x)


class TurbineNet(nn.Module):
    def __init__(self, sensors=20, width=40, stages=3, depth=4, states=3):
        super().__init__()
        self.inp = nn.Linear(sensors, width)
        self.stages = nn.ModuleList([Stage(width, depth) for _ in range(stages)])
        self.readout = nn.Linear(width, states)

    def forward(self, x):
        x = self.inp(x)
        for stage in self.stages:
            x = stage(x)
        return self.readout(x)


def windows(n, sensors=20, states=3):
    state = torch.randint(0, states, (n,))
    pattern = torch.randn(states, sensors, generator=torch.Generator().manual_seed(1))
    return pattern[state] + 0.7 * torch.randn(n, sensors), state


def accuracy(net, n=300):
    net.eval()
    with torch.no_grad():
        x, y = windows(n)
        acc = (net(x).argmax(1) == y).float().mean().item()
    net.train()
    return acc


def main():
    torch.manual_seed(7)
    net = TurbineNet()
    opt = torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.9)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(5):
        total = 0.0
        for _ in range(20):
            x, y = windows(32)
            loss = criterion(net(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        print(f"epoch {epoch}: loss {total / 20:.4f} acc {accuracy(net):.2f}")


main()
