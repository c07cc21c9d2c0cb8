"""Speaker embeddings: two crops of a voice are near each other, other voices far."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class VoiceNet(nn.Module):
    def __init__(self, bands=16, dim=20):
        super().__init__()
        self.frame = nn.Linear(bands, 24)
        self.attend = nn.Linear(24, 1, bias=False)
        self.out = nn.Linear(48, dim)

    def forward(self, x):
        h = F.leaky_relu(self.frame(x), 0.2)
        w = F.softmax(self.attend(h), dim=1)
        mean = (w * h).sum(1)
        std = ((w * h**2).sum(1) - mean**2).clamp(min=1e-4).sqrt()
        return self.out(torch.cat([mean, std], dim=1))


def nt_xent(z1, z2, temperature=0.2):
    z = F.normalize(torch.cat([z1, z2]), dim=1)
    n = z1.shape[0]
    sim = z @ z.T / temperature
    sim = sim.masked_fill(torch.eye(2 * n, dtype=torch.bool), float("-inf"))
    target = torch.cat([torch.arange(n, 2 * n), torch.arange(n)])
    return F.cross_entropy(sim, target)


def voices(step, n=6, t=10):
    g = torch.Generator().manual_seed(30 + step)
    timbre = torch.randn(n, 1, 16, generator=g)
    draw = lambda: timbre + 0.7 * torch.randn(n, t, 16, generator=g)
    return draw(), draw()


if __name__ == "__main__":
    torch.manual_seed(29)
    net = VoiceNet()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(3):
        one, two = voices(step)
        loss = nt_xent(net(one), net(two))
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(step, loss.item())
