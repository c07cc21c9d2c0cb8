"""Contrast against a queue of keys made by a slowly following encoder."""
import torch
import torch.nn.functional as F

from moco.model import MoCo


def crops(n, length=32):
    t = torch.linspace(0, 12.56, length)
    f, p = 0.5 + 2 * torch.rand(n, 1), 6.28 * torch.rand(n, 1)
    make = lambda: torch.sin(f * t + p) * (0.7 + 0.6 * torch.rand(n, 1)) + 0.2 * torch.randn(n, length)
    return make(), make()


def main():
    torch.manual_seed(216)
    model = MoCo(32, 16, size=128)
    optimizer = torch.optim.SGD(model.query.parameters(), lr=0.3, momentum=0.9)
    for step in range(1, 76):
        logits = model(*crops(32))
        loss = F.cross_entropy(logits, torch.zeros(len(logits), dtype=torch.long))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        model.follow()
        if step % 15 == 0:
            print(f"step {step} loss {loss.item():.4f} top {(logits.argmax(1) == 0).float().mean().item():.2f}")


main()
