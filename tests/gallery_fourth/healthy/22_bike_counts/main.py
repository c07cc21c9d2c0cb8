import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class CountNet(nn.Module):
    """Raw columns go through a norm first; the output is the logarithm of the rate."""

    def __init__(self, columns):
        super().__init__()
        self.norm = nn.BatchNorm1d(columns)
        self.body = nn.Sequential(nn.Linear(columns, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, x):
        return self.body(self.norm(x)).squeeze(1)


torch.manual_seed(22)
gen = torch.Generator().manual_seed(22)
hour = torch.randint(24, (400,), generator=gen).float()
kelvin = 283 + 8 * torch.randn(400, generator=gen)
pascal = 101300 + 900 * torch.randn(400, generator=gen)
stations = torch.full((400,), 12.0) + torch.randint(3, (400,), generator=gen)
rate = torch.exp(2.5 + torch.sin((hour - 9) / 24 * 6.2832) + 0.05 * (kelvin - 283))
counts = torch.poisson(rate, generator=gen)
loader = DataLoader(TensorDataset(torch.stack([hour, kelvin, pascal, stations], 1), counts), batch_size=40, shuffle=True)

net = CountNet(4)
criterion = nn.PoissonNLLLoss(log_input=True)
optimizer = torch.optim.Adam(net.parameters(), lr=2e-2)
for epoch in range(10):
    net.train()
    total = 0.0
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(net(x), y)
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(f"epoch {epoch} loss {total / len(loader):.3f}")
