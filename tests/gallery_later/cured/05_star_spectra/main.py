"""Temperature of stars from binned spectra: a long residual tower."""
import torch
from torch import nn

CONFIG = {
    "bins": 20,
    "width": 48,
    "blocks": 28,
    "branch_scale": 0.04,
    "lr": 1e-3,
    "steps": 60,
    "batch": 64,
}


class Tower(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        width = cfg["width"]
        self.scale = cfg["branch_scale"]
        self.stem = nn.Linear(cfg["bins"], width)
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width)) for _ in range(cfg["blocks"])
        )
        self.out = nn.Linear(width, 1)
        for m in self.modules():
            if isinstance(m, nn.Linear):
                nn.init.kaiming_normal_(m.weight)
                nn.init.zeros_(m.bias)

    def forward(self, x):
        x = self.stem(x)
        for block in self.blocks:
            x = x + self.scale * block(x)
        return self.out(x).squeeze(1)


def spectra(n, bins):
    heat = torch.rand(n)
    lam = torch.linspace(0.2, 1.0, bins)
    curve = torch.exp(-((lam - 0.3 - 0.5 * heat[:, None]) ** 2) / 0.05)
    curve = curve + 0.05 * torch.randn(n, bins)
    return (curve - 0.45) / 0.37, (heat - 0.5) / 0.29


def main(cfg):
    torch.manual_seed(105)
    tower = Tower(cfg)
    optimizer = torch.optim.AdamW(tower.parameters(), lr=cfg["lr"])
    for step in range(cfg["steps"]):
        x, y = spectra(cfg["batch"], cfg["bins"])
        loss = nn.functional.mse_loss(tower(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0 or step + 1 == cfg["steps"]:
            print(f"[{step:02d}] mse {loss.item():.4g}")


main(CONFIG)
