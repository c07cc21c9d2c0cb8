"""Tagging clips of sound; loud studio clips follow the quiet field clips."""
import torch
from torch import nn

from tagger.model import Tagger


def clips(n, gain, classes=3, frames=12, bands=16):
    label = torch.randint(0, classes, (n,))
    t = torch.linspace(0, 3.14, frames)
    tone = torch.sin(t[None, :, None] * (label + 1)[:, None, None])
    x = tone + 0.3 * torch.randn(n, frames, bands)
    return gain * x, label


def playlist(steps, batch):
    for step in range(steps):
        gain = 1.0 if step < 45 else 400.0
        yield step, *clips(batch, gain)


def main():
    torch.manual_seed(9)
    model = Tagger(bands=16, dim=64, heads=1, depth=2, classes=3)
    opt = torch.optim.SGD(model.parameters(), lr=0.02)
    for step, x, y in playlist(60, 16):
        with torch.autocast("cpu", dtype=torch.float16):
            logits = model(x)
        loss = nn.functional.cross_entropy(logits.float(), y)
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        if step % 5 == 0:
            print(f"{step:3d} {loss.item():.4f}")


if __name__ == "__main__":
    main()
