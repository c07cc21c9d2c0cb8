"""A variational autoencoder draws digits: an encoder, a sample with a gradient, a decoder (see data/SOURCE.md)."""

import pathlib

import numpy as np

import graphscope as torch
import graphscope.nn as nn
import graphscope.nn.functional as F

LATENT = 4
BATCH = 128
EPOCHS = 6

with np.load(pathlib.Path(__file__).parent / "data" / "digits.npz") as data:
    images = torch.tensor(data["images"].reshape(-1, 64) / 16.0, dtype=torch.float32)


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(64, 48), nn.ReLU())
        self.mean = nn.Linear(48, LATENT)
        self.logvar = nn.Linear(48, LATENT)
        self.decoder = nn.Sequential(nn.Linear(LATENT, 48), nn.ReLU(), nn.Linear(48, 64))

    def forward(self, x):
        hidden = self.encoder(x)
        mean, logvar = self.mean(hidden), self.logvar(hidden)
        noise = torch.randn_like(mean)
        z = mean + torch.exp(0.5 * logvar) * noise
        return self.decoder(z), mean, logvar


torch.manual_seed(0)
model = VAE()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)

for epoch in range(EPOCHS):
    total = 0.0
    for start in range(0, len(images), BATCH):
        x = images[start : start + BATCH]
        drawn, mean, logvar = model(x)
        likeness = F.binary_cross_entropy_with_logits(drawn, x, reduction="sum")
        distance = -0.5 * torch.sum(1 + logvar - mean.pow(2) - logvar.exp())
        loss = (likeness + distance) / len(x)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(x)
    print(f"epoch {epoch + 1}: loss {total / len(images):.3f} an image")

with torch.no_grad():
    drawn = torch.sigmoid(model.decoder(torch.zeros(1, LATENT))).reshape(8, 8)
for row in drawn.tolist():
    print("".join(" .:-=+*#%@"[min(int(10 * value), 9)] for value in row))

# `why noise` and `path logvar.weight loss`: the sample is random, and yet a gradient goes through it.
print("Question: noise has no gradient. By which way does the gradient of the likeness reach logvar.weight?")
