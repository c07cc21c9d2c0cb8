import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Normal, kl_divergence


class Encoder(nn.Module):
    def __init__(self, inp, hidden, latent):
        super().__init__()
        self.fc = nn.Linear(inp, hidden)
        self.mu = nn.Linear(hidden, latent)
        self.logvar = nn.Linear(hidden, latent)

    def forward(self, x):
        h = F.softplus(self.fc(x))
        return Normal(self.mu(h), torch.exp(0.5 * self.logvar(h)))


class VAE(nn.Module):
    def __init__(self, inp=64, hidden=24, latent=3):
        super().__init__()
        self.encoder = Encoder(inp, hidden, latent)
        self.decoder = nn.Sequential(nn.Linear(latent, hidden), nn.Softplus(), nn.Linear(hidden, inp))

    def forward(self, x):
        posterior = self.encoder(x)
        z = posterior.rsample()
        return self.decoder(z), posterior


def elbo(logits, x, posterior):
    rec = F.binary_cross_entropy_with_logits(logits, x, reduction="none").sum(1)
    prior = Normal(torch.zeros(3), torch.ones(3))
    kl = kl_divergence(posterior, prior).sum(1)
    return (rec + kl).mean()


def stamps(n=20):
    g = torch.Generator().manual_seed(404)
    x = torch.zeros(n, 8, 8)
    for image in x:
        i, j = torch.randint(0, 5, (2,), generator=g).tolist()
        image[i : i + 4, j : j + 4] = 1
    return x.flatten(1)


if __name__ == "__main__":
    torch.manual_seed(405)
    model = VAE()
    opt = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.01, eps=1e-6)
    x = stamps()
    torch.manual_seed(406)
    for step in range(4):
        logits, posterior = model(x)
        loss = elbo(logits, x, posterior)
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(step, loss.item())
