"""WGAN with a gradient penalty on points of a ring."""
import torch
from torch import nn


def mlp(inp, out, width=48):
    return nn.Sequential(nn.Linear(inp, width), nn.LeakyReLU(0.2),
                         nn.Linear(width, width), nn.LeakyReLU(0.2), nn.Linear(width, out))


def ring(n):
    a = torch.rand(n) * 6.28318
    return torch.stack([a.cos(), a.sin()], 1) * 2 + 0.05 * torch.randn(n, 2)


class Wgan:
    def __init__(self, latent=4, weight=10.0):
        self.latent, self.weight = latent, weight
        self.gen, self.critic = mlp(latent, 2), mlp(2, 1)
        self.opt_g = torch.optim.Adam(self.gen.parameters(), lr=1e-3, betas=(0.5, 0.9))
        self.opt_c = torch.optim.Adam(self.critic.parameters(), lr=4e-3, betas=(0.5, 0.9))

    def fake(self, n):
        return self.gen(torch.randn(n, self.latent))

    def penalty(self, real, fake):
        mix = torch.rand(len(real), 1)
        point = (mix * real + (1 - mix) * fake).requires_grad_(True)
        score = self.critic(point)
        slope, = torch.autograd.grad(score.sum(), point)
        norm = slope.norm(2, dim=1)
        return ((norm - 1) ** 2).mean(), norm.mean().item()

    def critic_step(self, n):
        real, fake = ring(n), self.fake(n).detach()
        gp, norm = self.penalty(real, fake)
        loss = self.critic(fake).mean() - self.critic(real).mean() + self.weight * gp
        self.opt_c.zero_grad()
        loss.backward()
        self.opt_c.step()
        return loss.item(), norm

    def gen_step(self, n):
        loss = -self.critic(self.fake(n)).mean()
        self.opt_g.zero_grad()
        loss.backward()
        self.opt_g.step()
        return loss.item()


def main():
    torch.manual_seed(13)
    gan = Wgan()
    for it in range(40):
        for _ in range(2):
            c, norm = gan.critic_step(64)
        g = gan.gen_step(64)
        if it % 5 == 4:
            print(f"{it + 1:3d}  critic {c:9.3f}  gen {g:8.3f}  slope {norm:.3f}")
    with torch.no_grad():
        radius = gan.fake(500).norm(dim=1)
    print(f"radius of samples {radius.mean():.2f} +- {radius.std():.2f}")


if __name__ == "__main__":
    main()
