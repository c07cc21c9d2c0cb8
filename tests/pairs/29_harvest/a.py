import torch
import torch.nn as nn


class Harvest(nn.Module):
    def __init__(self):
        super().__init__()
        self.soil = nn.Embedding(5, 4)
        self.hidden = nn.Linear(4 + 3, 16)
        self.out = nn.Linear(16, 1)

    def forward(self, soil, weather):
        x = torch.cat([self.soil(soil), weather], dim=1)
        x = torch.nn.functional.mish(self.hidden(x))
        return self.out(x).squeeze(-1)


def fields(n=20):
    soil = torch.randint(0, 5, (n,))
    weather = torch.randn(n, 3)
    tons = 3 + soil * 0.5 + weather[:, 0] - 0.3 * weather[:, 1] ** 2
    return soil, weather, tons


def train(steps=3):
    torch.manual_seed(101)
    model = Harvest()
    opt = torch.optim.Adam(model.parameters(), lr=1e-2)
    for step in range(steps):
        soil, weather, tons = fields()
        error = model(soil, weather) - tons
        loss = (error**2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(step, loss.item())


if __name__ == "__main__":
    train()
