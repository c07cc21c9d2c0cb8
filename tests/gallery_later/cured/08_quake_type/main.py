"""Type of a seismic event from features of its trace: a highway network."""
import torch
import torch.nn.functional as F

from seismo.events import events
from seismo.highway import Highway


def train(settings):
    torch.manual_seed(settings["seed"])
    net = Highway(6, 3, settings["width"], settings["blocks"], settings["carry"])
    optimizer = torch.optim.SGD(net.parameters(), lr=settings["lr"], momentum=0.9)
    for step in range(settings["steps"]):
        x, kind = events(96)
        loss = F.cross_entropy(net(x), kind)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 9:
            with torch.no_grad():
                x, kind = events(500)
                rate = (net(x).argmax(1) == kind).float().mean().item()
            print(f"step {step + 1} loss {loss.item():.4f} right {rate:.3f}")


if __name__ == "__main__":
    train({"seed": 108, "width": 32, "blocks": 3, "carry": 2.0, "lr": 0.1, "steps": 80})
