"""A GAN for dune profiles."""
import torch
import torch.nn.functional as F
from torch import nn


def profiles(n, length=16):
    t = torch.linspace(-1, 1, length)
    crest = 0.6 * torch.rand(n, 1) - 0.3
    return 1.5 * torch.exp(-8 * (t - crest) ** 2) - 0.5 + 0.03 * torch.randn(n, length)


class GAN:
    def __init__(self, noise=6, length=16):
        self.noise = noise
        self.g = nn.Sequential(nn.Linear(noise, 32), nn.ReLU(), nn.Linear(32, length))
        self.d = nn.Sequential(nn.Linear(length, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))
        self.g_opt = torch.optim.SGD(self.g.parameters(), lr=0.1)
        self.d_opt = torch.optim.SGD(self.d.parameters(), lr=0.1)

    def sample(self, n):
        return self.g(torch.randn(n, self.noise))

    def discriminator_step(self, real):
        fake = self.sample(len(real)).detach()
        loss = F.softplus(-self.d(real)).mean() + F.softplus(self.d(fake)).mean()
        self.d_opt.zero_grad()
        loss.backward()
        self.d_opt.step()
        return loss.item()

    def generator_step(self, n):
        loss = F.softplus(-self.d(self.sample(n))).mean()
        self.g_opt.zero_grad()
        loss.backward()
        self.g_opt.step()
        return loss.item()


def main():
    torch.manual_seed(119)
    gan = GAN()
    for step in range(1, 81):
        d = gan.discriminator_step(profiles(64))
        g = gan.generator_step(64)
        if step % 16 == 0:
            with torch.no_grad():
                gap = (gan.sample(500).mean(0) - profiles(500).mean(0)).abs().mean()
            print(f"{step:2d} d {d:.4f} g {g:.4f} distance of means {gap.item():.3f}")


main()
