"""Drag of a satellite from its telemetry."""
import torch
from torch import nn

from telemetry.scaling import RunningScaler
from telemetry.stream import passes


class Drag(nn.Module):
    def __init__(self, columns=4, hidden=32):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(columns, hidden), nn.Tanh(), nn.Linear(hidden, 1))

    def forward(self, x):
        return self.net(x).squeeze(-1)


def main():
    torch.manual_seed(1)
    rows, drag = passes(1600)
    scaler = RunningScaler(rows.shape[1])
    for part in rows.split(100):
        scaler.update(part)
    x = scaler.transform(rows).float()
    model = Drag()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for step in range(1, 91):
        pick = torch.randint(len(x), (64,))
        loss = nn.functional.mse_loss(model(x[pick]), drag[pick])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 15 == 0:
            print(f"step {step} mse {loss.item():.4f}")


main()
