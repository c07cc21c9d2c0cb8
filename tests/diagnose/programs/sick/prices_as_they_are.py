import torch
from torch import nn


def windows(series, size):
    rows = [series[at : at + size] for at in range(len(series) - size)]
    return torch.stack(rows).unsqueeze(-1)  # <-- unnormalised_inputs


class Forecast(nn.Module):
    def __init__(self):
        super().__init__()
        self.recurrent = nn.LSTM(1, 16, batch_first=True)
        self.head = nn.Linear(16, 1)

    def forward(self, x):
        return self.head(self.recurrent(x)[0][:, -1])


torch.manual_seed(0)
prices = 4000 + 200 * torch.sin(torch.arange(150) * 0.1) + 20 * torch.randn(150)
X, Y = windows(prices, 10), ((prices[10:] - 4000) / 200).unsqueeze(1)
net = Forecast()
adam = torch.optim.Adam(net.parameters(), 1e-3)
for epoch in range(4):
    for rows in torch.randperm(len(X)).split(20):
        adam.zero_grad()
        nn.functional.mse_loss(net(X[rows]), Y[rows]).backward()
        adam.step()
