"""The VAE in one class, the KL term in closed form, own AdamW."""

import torch
from torch import nn

import a


class AdamW(torch.optim.Optimizer):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, decay=0.01):
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "decay": decay})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            b1, b2 = group["betas"]
            for p in group["params"]:
                s = self.state[p]
                if not s:
                    s["t"], s["m"], s["v"] = 0, torch.zeros_like(p), torch.zeros_like(p)
                s["t"] += 1
                s["m"] = b1 * s["m"] + (1 - b1) * p.grad
                s["v"] = b2 * s["v"] + (1 - b2) * p.grad**2
                m = s["m"] / (1 - b1 ** s["t"])
                v = s["v"] / (1 - b2 ** s["t"])
                p -= group["lr"] * (m / (torch.sqrt(v) + group["eps"]) + group["decay"] * p)


class StampVAE(nn.Module):
    def __init__(self, source):
        super().__init__()
        e, d = source.encoder, source.decoder
        self.enc_w, self.enc_b = nn.Parameter(e.fc.weight.data.t().clone()), nn.Parameter(e.fc.bias.data.clone())
        self.latent_w = nn.Parameter(torch.cat([e.mu.weight.data, e.logvar.weight.data]).t().clone())
        self.latent_b = nn.Parameter(torch.cat([e.mu.bias.data, e.logvar.bias.data]))
        self.up, self.to_pixels = d[0], d[2]

    def forward(self, x):
        h = torch.log1p(torch.exp(x @ self.enc_w + self.enc_b))
        mu, logvar = (h @ self.latent_w + self.latent_b).split(3, dim=1)
        noise = torch.randn_like(mu)
        z = mu + noise * (logvar / 2).exp()
        h = nn.functional.softplus(self.up(z))
        logits = self.to_pixels(h)
        kl = -0.5 * (1 + logvar - mu**2 - logvar.exp()).sum()
        rec = (torch.logaddexp(logits, torch.zeros(())) - x * logits).sum()
        return (rec + kl) / len(x)


torch.manual_seed(405)
model = StampVAE(a.VAE())
opt = AdamW(model.parameters(), lr=3e-3, eps=1e-6)
x = a.stamps()
torch.manual_seed(406)
for step in range(4):
    loss = model(x)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(step, loss.item())
