"""Wind over dunes: a field of offsets along a map, trained with clipped gradients."""

import torch
from torch import nn

MAX_NORM = 0.5


class DuneField(nn.Module):
    def __init__(self):
        super().__init__()
        self.enter = nn.Linear(2, 18)
        self.middle = nn.Linear(18, 18)
        self.leave = nn.Linear(18, 2)

    def forward(self, places):
        x = torch.sin(self.enter(places) * 3)
        x = torch.sin(self.middle(x))
        return self.leave(x)


def wind(step):
    g = torch.Generator().manual_seed(140 + step)
    places = torch.rand(30, 2, generator=g)
    return places, torch.stack([places.prod(1).sin(), (places[:, 0] * 4).cos()], 1) * 3


def clip(model):
    for p in model.parameters():
        nn.utils.clip_grad_norm_(p, MAX_NORM)


def train():
    torch.manual_seed(141)
    model = DuneField()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for step in range(4):
        places, truth = wind(step)
        loss = nn.functional.l1_loss(model(places), truth, reduction="sum") / len(places)
        optimizer.zero_grad()
        loss.backward()
        clip(model)
        optimizer.step()
        print(f"step {step}  loss {loss.item():.5f}")


if __name__ == "__main__":
    train()
