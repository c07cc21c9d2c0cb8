"""Denoising autoencoder for short signals, with a log of the whole run."""
import torch
from torch import nn
import torch.nn.functional as F


class Block(nn.Module):
    def __init__(self, inp, out):
        super().__init__()
        self.conv = nn.Conv1d(inp, out, 5, padding=2)
        self.norm = nn.BatchNorm1d(out)

    def forward(self, x):
        return F.leaky_relu(self.norm(self.conv(x)), 0.1)


class Denoiser(nn.Module):
    def __init__(self, width=12):
        super().__init__()
        self.enc = nn.Sequential(Block(1, width), Block(width, width))
        self.dec = nn.Conv1d(width, 1, 5, padding=2)

    def forward(self, x):
        return self.dec(self.enc(x))


class RunLog:
    def __init__(self):
        self.curves = {}

    def record(self, name, value):
        self.curves.setdefault(name, []).append(value)

    def mean(self, name, last):
        values = self.curves[name][-last:]
        return float(sum(values) / len(values))


def signals(n, length=32):
    t = torch.linspace(0, 6.28, length)
    f, a = 1 + 2 * torch.rand(n, 1), 0.5 + torch.rand(n, 1)
    clean = (a * torch.sin(f * t)).unsqueeze(1)
    return clean + 0.4 * torch.randn_like(clean), clean


def main(steps=80):
    torch.manual_seed(25)
    net = Denoiser()
    opt = torch.optim.Adam(net.parameters(), lr=5e-3)
    log = RunLog()
    for step in range(steps):
        noisy, clean = signals(32)
        out = net(noisy)
        loss = F.mse_loss(out, clean)
        opt.zero_grad()
        loss.backward()
        opt.step()
        rough = (out[..., 1:] - out[..., :-1]).pow(2).mean()
        log.record("loss", loss.item())
        log.record("roughness", rough.item())
        if (step + 1) % 20 == 0:
            print(f"{step + 1:3d} loss {log.mean('loss', 20):.4f} roughness {log.mean('roughness', 20):.4f}")


if __name__ == "__main__":
    main()
