import torch
import torch.nn as nn
import torch.nn.functional as F


class Separable(nn.Module):
    def __init__(self, inp, out, kernel=5, dilation=1):
        super().__init__()
        self.depth = nn.Conv1d(inp, inp, kernel, padding=dilation * (kernel // 2), dilation=dilation, groups=inp)
        self.point = nn.Conv1d(inp, out, 1)
        self.norm = nn.GroupNorm(1, out)

    def forward(self, x):
        return F.hardswish(self.norm(self.point(self.depth(x))))


class Residual(nn.Module):
    def __init__(self, body):
        super().__init__()
        self.body = body

    def forward(self, x):
        return x + self.body(x)


class Engine(nn.Module):
    def __init__(self, channels=12, states=4):
        super().__init__()
        self.stem = nn.Conv1d(1, channels, 4, stride=4)
        self.body = nn.Sequential(*[Residual(Separable(channels, channels, dilation=d)) for d in (1, 2)])
        self.head = nn.Sequential(nn.Linear(2 * channels, 16), nn.Hardtanh(), nn.Linear(16, states))

    def forward(self, wave):
        x = self.body(self.stem(wave.unsqueeze(1)))
        return self.head(torch.cat([x.mean(-1), x.amax(-1)], dim=1))


def sounds(step, n=8):
    g = torch.Generator().manual_seed(800 + step)
    state = torch.randint(0, 4, (n,), generator=g)
    t = torch.arange(96) / 96
    wave = torch.sin(6.2832 * (4 + 3 * state[:, None]) * t) + 0.3 * torch.randn(n, 96, generator=g)
    return wave, state


if __name__ == "__main__":
    torch.manual_seed(81)
    model = Engine()
    opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, nesterov=True, weight_decay=1e-3)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=6)
    for step in range(4):
        wave, state = sounds(step)
        loss = F.multi_margin_loss(model(wave), state)
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        opt.step()
        scheduler.step()
        print(step, loss.item())
