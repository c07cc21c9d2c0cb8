import torch


def passes(n, seed=24):
    """Radius in km, height of the sun's activity, attitude; drag as the target."""
    g = torch.Generator().manual_seed(seed)
    z = torch.randn(n, 4, generator=g, dtype=torch.float64)
    centre = torch.tensor([6790.0, 150.0, 0.0, 7.6], dtype=torch.float64)
    size = torch.tensor([0.05, 30.0, 1.0, 0.0002], dtype=torch.float64)
    drag = -1.2 * z[:, 0] + 0.6 * z[:, 1] + 0.8 * torch.sin(z[:, 2]) + 0.5 * z[:, 3]
    return centre + size * z, drag.float()
