"""Predicting the load of a server from the gaps between its requests."""
import torch
from torch import nn
from torch.utils.data import DataLoader

from events.features import GapDataset


class SetEncoder(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.each = nn.Sequential(nn.Linear(1, hidden), nn.SiLU(), nn.Linear(hidden, hidden))
        self.out = nn.Sequential(nn.SiLU(), nn.Linear(hidden, 1))

    def forward(self, gaps):
        h = self.each(gaps.unsqueeze(-1))
        return self.out(h.mean(dim=1)).squeeze(-1)


def fit(model, loader, epochs):
    opt = torch.optim.Adam(model.parameters(), lr=5e-3)
    loss_fn = nn.MSELoss()
    for epoch in range(epochs):
        total = 0.0
        for gaps, load in loader:
            loss = loss_fn(model(gaps), load)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        print(f"epoch {epoch}: mse {total / len(loader):.4f}")


if __name__ == "__main__":
    torch.manual_seed(34)
    fit(SetEncoder(32), DataLoader(GapDataset(480), batch_size=32, shuffle=True), epochs=6)
