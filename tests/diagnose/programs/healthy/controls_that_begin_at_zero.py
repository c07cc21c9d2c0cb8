import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


def zero(module):
    for parameter in module.parameters():
        nn.init.zeros_(parameter)
    return module


class Control(nn.Module):
    def __init__(self):
        super().__init__()
        self.hint = nn.Conv2d(1, 16, 3, padding=1)
        self.into = zero(nn.Conv2d(16, 16, 1))
        self.copy = nn.Conv2d(3, 16, 3, padding=1)
        self.out = zero(nn.Conv2d(16, 16, 1))

    def forward(self, x, hint):
        return self.out(F.silu(self.copy(x) + self.into(self.hint(hint))))


first, last = nn.Conv2d(3, 16, 3, padding=1), nn.Conv2d(16, 3, 3, padding=1)
base = nn.ModuleList([first, last]).requires_grad_(False)
control = Control()
opt = torch.optim.AdamW(control.parameters(), lr=1e-3)
for step in range(40):
    clean, time = torch.randn(4, 3, 8, 8), torch.rand(4, 1, 1, 1)
    noise = torch.randn_like(clean)
    noisy = time * noise + (1 - time) * clean
    hidden = F.silu(base[0](noisy)) + control(noisy, clean.mean(1, keepdim=True))
    loss = F.mse_loss(base[1](hidden), noise)
    opt.zero_grad()
    loss.backward()
    opt.step()
