import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))

    def forward(self, x):
        return self.net(x)


def penalty(critic, real, fake):
    a = torch.rand(len(real), 1)
    mix = (a * real + (1 - a) * fake).requires_grad_(True)
    (g,) = torch.autograd.grad(critic(mix).sum(), mix)  # <-- missing
    return ((g.norm(2, dim=1) - 1) ** 2).mean()


G = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
D = Critic()
og, od = torch.optim.Adam(G.parameters()), torch.optim.Adam(D.parameters())
for step in range(15):
    real = torch.randn(16, 2) + 3
    fake = G(torch.randn(16, 4))
    od.zero_grad()
    d = D(fake.detach()).mean() - D(real).mean() + 10 * penalty(D, real, fake.detach())
    d.backward()
    od.step()
    og.zero_grad()
    (-D(G(torch.randn(16, 4))).mean()).backward()
    og.step()
