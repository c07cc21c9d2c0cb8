import torch

ORIGIN = (0.0, 0.0)


def true_positions(n_receivers=12, n_beacons=30):
    origin = torch.tensor(ORIGIN, dtype=torch.float64)
    receivers = origin + 400 * torch.randn(n_receivers, 2, dtype=torch.float64)
    beacons = origin + 150 * torch.randn(n_beacons, 2, dtype=torch.float64)
    return receivers, beacons


def measure(receivers, beacons):
    exact = (beacons[:, None] - receivers[None]).norm(dim=-1)
    return (exact + 0.3 * torch.randn_like(exact)).float()
