import torch

from vae.model import VAE
from vae.terms import divergence, reconstruction


def train(steps=90, beta=0.5):
    torch.manual_seed(2)
    factors = torch.randn(4, 48)
    net = VAE()
    opt = torch.optim.Adam(net.parameters(), lr=5e-3)
    for i in range(1, steps + 1):
        x = torch.randn(64, 4) @ factors + 0.1 * torch.randn(64, 48)
        out, mu, logvar = net(x)
        rec, kl = reconstruction(out, x), divergence(mu, logvar)
        loss = rec + beta * kl
        opt.zero_grad()
        loss.backward()
        opt.step()
        if i % 10 == 0:
            print(f"{i:3d} rec {rec.item():9.3f} kl {kl.item():10.3f} loss {loss.item():10.3f}")


if __name__ == "__main__":
    train()
