"""Strength of an accent from a voice vector; after training the same speakers are scored twice."""
import torch
import torch.nn.functional as F

from accent.model import Scorer


def speakers(n, w):
    x = torch.randn(n, 16)
    return x, torch.tanh(x @ w) + 0.5 * x[:, 0] + 0.1 * torch.randn(n)


def score(model, x):
    model.eval()
    with torch.no_grad():
        return model(x)


def main():
    torch.manual_seed(132)
    w = torch.randn(16) / 4
    model = Scorer(16, 64)
    opt = torch.optim.AdamW(model.parameters(), lr=5e-3, weight_decay=1e-3)
    fixed, truth = speakers(200, w)
    for epoch in range(4):
        model.train()
        for _ in range(18):
            x, y = speakers(64, w)
            loss = F.mse_loss(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        first, second = score(model, fixed), score(model, fixed)
        print(f"epoch {epoch} loss {loss.item():.4f} fixed speakers {F.mse_loss(first, truth).item():.4f} "
              f"between two scorings {(first - second).abs().mean().item():.4f}")


main()
