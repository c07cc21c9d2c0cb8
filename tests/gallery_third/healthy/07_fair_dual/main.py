"""A constraint by dual ascent: equal rates in both groups; the multiplier climbs."""
import torch
import torch.nn as nn
import torch.nn.functional as F


def applicants(n):
    group = torch.randint(2, (n,)).float()
    x = torch.randn(n, 6) + 0.6 * group[:, None]
    y = (x[:, 0] + 0.5 * x[:, 1] - 0.5 * group + 0.5 * torch.randn(n) > 0.3).float()
    return x, group, y


def gap(logits, group):
    p = torch.sigmoid(logits)
    return (p * group).sum() / group.sum() - (p * (1 - group)).sum() / (1 - group).sum()


def main():
    torch.manual_seed(7)
    model = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 1))
    multiplier = nn.Parameter(torch.zeros(()))
    down = torch.optim.Adam(model.parameters(), lr=1e-2)
    up = torch.optim.SGD([multiplier], lr=0.2, maximize=True)
    for step in range(120):
        x, group, y = applicants(128)
        logits = model(x).squeeze(1)
        violation = gap(logits, group).abs() - 0.05
        error = F.binary_cross_entropy_with_logits(logits, y)
        lagrangian = error + multiplier * violation
        down.zero_grad()
        up.zero_grad()
        lagrangian.backward()
        down.step()
        up.step()
        with torch.no_grad():
            multiplier.clamp_(min=0)
        if step % 20 == 19:
            print(f"step {step + 1} error {error.item():.3f} gap {violation.item() + 0.05:.3f} "
                  f"multiplier {multiplier.item():.3f}")


if __name__ == "__main__":
    main()
