import torch


def flats(n, gen):
    """Standardised columns, a district, and the rent in hundreds of euros."""
    numeric = torch.randn(n, 5, generator=gen)
    district = torch.randint(6, (n,), generator=gen)
    rent = 9 + 2.5 * numeric[:, 0] - numeric[:, 1] + 0.8 * (district - 2.5)
    rent = rent + 0.3 * torch.randn(n, generator=gen)
    return numeric, district, rent.clamp(min=2)
