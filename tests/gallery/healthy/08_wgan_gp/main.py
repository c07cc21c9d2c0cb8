"""Wasserstein GAN with gradient penalty in one dimension."""
import torch
from torch import nn


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(1, 32), nn.Softplus(), nn.Linear(32, 32), nn.Softplus())
        self.out = nn.Linear(32, 1, bias=False)

    def forward(self, x):
        return self.out(self.body(x))


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, n):
        return self.net(torch.randn(n, 2))


def gradient_penalty(critic, real, fake):
    eps = torch.rand_like(real)
    mixed = (eps * real + (1 - eps) * fake).requires_grad_()
    grad, = torch.autograd.grad(critic(mixed).sum(), mixed, create_graph=True)
    return ((grad.norm(dim=1) - 1) ** 2).mean()


torch.manual_seed(2)
critic, gen = Critic(), Generator()
opt_c = torch.optim.Adam(critic.parameters(), lr=5e-3, betas=(0.0, 0.9))
opt_g = torch.optim.Adam(gen.parameters(), lr=5e-3, betas=(0.0, 0.9))
for step in range(40):
    for _ in range(2):
        real = 3 + 0.5 * torch.randn(64, 1)
        with torch.no_grad():
            fake = gen(64)
        loss_c = critic(fake).mean() - critic(real).mean() + 10 * gradient_penalty(critic, real, fake)
        opt_c.zero_grad()
        loss_c.backward()
        opt_c.step()
    for p in critic.parameters():
        p.requires_grad_(False)
    loss_g = -critic(gen(64)).mean()
    opt_g.zero_grad()
    loss_g.backward()
    opt_g.step()
    for p in critic.parameters():
        p.requires_grad_(True)
    if step % 10 == 9:
        print(f"{step + 1} critic {loss_c.item():.3f} mean of samples {gen(200).mean().item():.3f}")
