"""Random Fourier features: the first layer is drawn once and never trained."""
import argparse

import torch
from torch import nn


class FourierRegressor(nn.Module):
    def __init__(self, columns, features, bandwidth):
        super().__init__()
        self.project = nn.Linear(columns, features)
        nn.init.normal_(self.project.weight, std=1 / bandwidth)
        nn.init.uniform_(self.project.bias, 0, 6.283)
        self.project.requires_grad_(False)
        self.readout = nn.Linear(features, 1)

    def forward(self, x):
        phi = torch.cos(self.project(x)) * (2 / self.project.out_features) ** 0.5
        return self.readout(phi).squeeze(-1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--features", type=int, default=200)
    parser.add_argument("--bandwidth", type=float, default=1.2)
    parser.add_argument("--lr", type=float, default=5e-2)
    parser.add_argument("--epochs", type=int, default=10)
    args = parser.parse_args()
    torch.manual_seed(202)
    x = torch.randn(256, 3)
    y = torch.sin(2 * x[:, 0]) * x[:, 1] + 0.1 * torch.randn(256)
    model = FourierRegressor(3, args.features, args.bandwidth)
    trainable = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.Adam(trainable, lr=args.lr)
    for epoch in range(args.epochs):
        for part in torch.randperm(256).split(32):
            optimizer.zero_grad()
            loss = (model(x[part]) - y[part]).pow(2).mean()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch}: {loss.item():.4f}")


if __name__ == "__main__":
    main()
