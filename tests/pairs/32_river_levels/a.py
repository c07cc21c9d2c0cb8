import torch
import torch.nn as nn


class River(nn.Module):
    def __init__(self, gauges=4, hidden=12):
        super().__init__()
        self.gru = nn.GRU(gauges, hidden, num_layers=2, batch_first=True, bidirectional=True)
        self.head = nn.Linear(2 * hidden, 1)

    def forward(self, x):
        y, _ = self.gru(x)
        return self.head(y).squeeze(-1)


def levels(step, n=5, t=14):
    g = torch.Generator().manual_seed(step)
    rain = torch.rand(n, t, 4, generator=g) ** 3
    return rain, rain.sum(-1).cumsum(1) * 0.2


if __name__ == "__main__":
    torch.manual_seed(99)
    model = River()
    opt = torch.optim.SGD(model.parameters(), lr=0.05)
    for step in range(3):
        rain, level = levels(step)
        loss = nn.functional.mse_loss(model(rain), level)
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(step, loss.item())
