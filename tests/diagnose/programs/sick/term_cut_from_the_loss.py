import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(8, 16)
        self.mean, self.spread = nn.Linear(16, 4), nn.Linear(16, 4)
        self.decoder = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 8))

    def forward(self, x):
        hidden = torch.relu(self.encoder(x))
        mean, spread = self.mean(hidden), self.spread(hidden)
        z = mean + torch.randn_like(mean) * torch.exp(0.5 * spread)
        return self.decoder(z), mean, spread


def divergence(mean, spread):
    kl = -0.5 * (1 + spread - mean.pow(2) - spread.exp()).sum(1).mean()
    return kl.detach()  # <-- missing


def objective(model, x, beta=0.1):
    out, mean, spread = model(x)
    reconstruction = F.mse_loss(out, x)
    return reconstruction + beta * divergence(mean, spread)


model = Autoencoder()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(20):
    x = torch.randn(32, 8)
    loss = objective(model, x)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
