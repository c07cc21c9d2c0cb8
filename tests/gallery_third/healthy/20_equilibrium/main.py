import torch
from torch import nn

from implicit import Equilibrium


def main():
    torch.manual_seed(20)
    model = nn.Sequential(Equilibrium(8, 24), nn.Linear(24, 1))
    teacher = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1)).requires_grad_(False)
    opt = torch.optim.Adam(model.parameters(), lr=1e-2)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 70)
    for step in range(70):
        x = 2 * torch.randn(32, 8)
        y = 3 * teacher(x)
        loss = nn.functional.mse_loss(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
        if step % 10 == 9:
            print(f"step {step + 1} loss {loss.item():.4f}")


main()
