"""The divergence of a variational autoencoder has lost its minus, and is made as large as it can be."""

import torch
from torch import nn


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.mean, self.log_variance = nn.Linear(10, 16), nn.Linear(16, 3), nn.Linear(16, 3)
        self.decoder = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 10))

    def forward(self, x):
        hidden = torch.tanh(self.encoder(x))
        mean, log_variance = self.mean(hidden), self.log_variance(hidden)
        return self.decoder(mean + torch.randn_like(mean) * (0.5 * log_variance).exp()), mean, log_variance


torch.manual_seed(0)
net = Autoencoder()
optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
for step in range(25):
    x = torch.randn(32, 10)
    out, mean, log_variance = net(x)
    error = nn.functional.mse_loss(out, x, reduction="sum") / len(x)
    divergence = 0.5 * torch.sum(1 + log_variance - mean.pow(2) - log_variance.exp(), dim=1).mean()  # <-- wrong_sign
    loss = error + divergence
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
