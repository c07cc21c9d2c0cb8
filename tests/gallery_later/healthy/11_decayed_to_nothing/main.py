"""The rate falls as a polynomial to exactly zero in the last step."""
import torch
from torch import nn
from torch.optim.lr_scheduler import PolynomialLR
from torch.utils.data import DataLoader, TensorDataset


def depth_profile(n):
    t = 2 * torch.rand(n, 2) - 1
    return t, torch.sin(2 * t[:, :1]) + t[:, 1:] ** 2 - 0.4


def main(epochs=8):
    torch.manual_seed(211)
    loader = DataLoader(TensorDataset(*depth_profile(320)), batch_size=32, shuffle=True)
    net = nn.Sequential(nn.Linear(2, 48), nn.SiLU(), nn.Linear(48, 48), nn.SiLU(), nn.Linear(48, 1))
    opt = torch.optim.AdamW(net.parameters(), lr=2e-2)
    schedule = PolynomialLR(opt, total_iters=epochs * len(loader), power=1.5)
    for epoch in range(epochs):
        total = 0.0
        for x, y in loader:
            opt.zero_grad()
            loss = nn.functional.mse_loss(net(x), y)
            loss.backward()
            opt.step()
            schedule.step()
            total += loss.item()
        print(f"epoch {epoch + 1} mse {total / len(loader):.5f} next rate {schedule.get_last_lr()[0]:.2e}")


main()
