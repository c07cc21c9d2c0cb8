"""Heating: a forecaster of the outdoor temperature and a controller trained through the room model."""
import torch
from torch import nn


def mlp(inp, out, width=24):
    return nn.Sequential(nn.Linear(inp, width), nn.Tanh(), nn.Linear(width, out))


class Plant:
    """A room that loses heat to the outside; all temperatures in tens of degrees."""

    def __init__(self, leak=0.2, gain=0.1):
        self.leak, self.gain = leak, gain

    def step(self, room, outside, valve):
        return room + self.leak * (outside - room) + self.gain * valve


class Controller(nn.Module):
    NOTCHES = 10

    def __init__(self):
        super().__init__()
        self.net = mlp(3, 1)

    def forward(self, room, outside, wish):
        opening = torch.sigmoid(self.net(torch.stack([room, outside, wish], dim=1)))[:, 0]
        notch = opening * self.NOTCHES
        return notch / self.NOTCHES * 4.0


def episode(forecaster, controller, plant, n=64, hours=6):
    history = torch.randn(n, 4)
    truth = 0.6 * history[:, 3] + 0.3 * history[:, 2] - 0.2 * history[:, 0]
    outside = forecaster(history)[:, 0]
    forecast_loss = (outside - truth).pow(2).mean()
    room, wish = 1.5 + 0.3 * torch.randn(n), 0.5 + torch.rand(n)
    cost = 0.0
    for _ in range(hours):
        room = plant.step(room, truth, controller(room, outside.detach(), wish))
        cost = cost + (room - wish).pow(2).mean()
    return forecast_loss, cost / hours


def main(steps=60):
    torch.manual_seed(110)
    forecaster, controller, plant = mlp(4, 1), Controller(), Plant()
    opt = torch.optim.Adam([
        {"params": forecaster.parameters(), "lr": 1e-2},
        {"params": controller.parameters(), "lr": 1e-2},
    ])
    for step in range(steps):
        forecast_loss, cost = episode(forecaster, controller, plant)
        opt.zero_grad()
        (forecast_loss + cost).backward()
        opt.step()
        if step % 10 == 9:
            print(f"{step + 1:3d} forecast {forecast_loss.item():.4f} comfort {cost.item():.4f}")


main()
