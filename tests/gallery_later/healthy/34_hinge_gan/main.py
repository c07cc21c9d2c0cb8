"""A GAN with hinge losses and spectral norm; each side is frozen while the other learns."""
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.parametrizations import spectral_norm


def switch(net, on):
    for p in net.parameters():
        p.requires_grad_(on)


def crescents(n):
    angle = 3.1416 * torch.rand(n)
    r = 1 + 0.05 * torch.randn(n)
    return torch.stack([r * angle.cos(), r * angle.sin() - 0.5], dim=1) * 1.5


class Critic(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.a = spectral_norm(nn.Linear(2, width))
        self.b = spectral_norm(nn.Linear(width, width))
        self.out = nn.Linear(width, 1)

    def forward(self, x):
        x = F.leaky_relu(self.a(x), 0.2)
        return self.out(F.leaky_relu(self.b(x), 0.2))


torch.manual_seed(234)
maker = nn.Sequential(nn.Linear(4, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, 2))
critic = Critic()
maker_opt = torch.optim.Adam(maker.parameters(), lr=2e-3, betas=(0.5, 0.9))
critic_opt = torch.optim.Adam(critic.parameters(), lr=4e-3, betas=(0.5, 0.9))
for step in range(1, 76):
    switch(critic, True)
    with torch.no_grad():
        fake = maker(torch.randn(96, 4))
    critic_loss = F.relu(1 - critic(crescents(96))).mean() + F.relu(1 + critic(fake)).mean()
    critic_opt.zero_grad()
    critic_loss.backward()
    critic_opt.step()

    switch(critic, False)
    maker_loss = -critic(maker(torch.randn(96, 4))).mean()
    maker_opt.zero_grad()
    maker_loss.backward()
    maker_opt.step()
    if step % 15 == 0:
        print(f"{step} critic {critic_loss.item():.4f} maker {maker_loss.item():.4f}")
