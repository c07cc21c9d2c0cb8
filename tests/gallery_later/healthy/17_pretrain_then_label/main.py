"""First an autoencoder without labels, then a classifier on its encoder with few labels."""
import torch
from torch import nn
import torch.nn.functional as F


def signals(n):
    y = torch.randint(0, 4, (n,))
    t = torch.linspace(0, 6.28, 24)
    x = torch.sin((y + 1).unsqueeze(1) * t + 0.6 * torch.randn(n, 1))
    return x + 0.4 * torch.randn(n, 24), y


def pretrain(encoder, steps):
    decoder = nn.Sequential(nn.Linear(12, 48), nn.ReLU(), nn.Linear(48, 24))
    opt = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=5e-3)
    for step in range(steps):
        x, _ = signals(64)
        loss = F.mse_loss(decoder(encoder(x)), x)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 10 == 9:
            print(f"phase 1 step {step + 1} {loss.item():.4f}")


def label(encoder, steps):
    x, y = signals(96)
    head = nn.Linear(12, 4)
    opt = torch.optim.Adam([
        {"params": encoder.parameters(), "lr": 1e-3},
        {"params": head.parameters(), "lr": 1e-2},
    ])
    for step in range(steps):
        loss = F.cross_entropy(head(encoder(x)), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 10 == 9:
            print(f"phase 2 step {step + 1} {loss.item():.4f}")
    with torch.no_grad():
        x, y = signals(300)
        print(f"accuracy {(head(encoder(x)).argmax(1) == y).float().mean().item():.3f}")


torch.manual_seed(217)
encoder = nn.Sequential(nn.Linear(24, 48), nn.ReLU(), nn.Linear(48, 12))
pretrain(encoder, 40)
label(encoder, 40)
