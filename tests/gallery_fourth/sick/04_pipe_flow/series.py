import torch


def inflow(n, length, gen):
    """Valve openings and the water that has run through in the end."""
    opening = torch.rand(n, length, 2, generator=gen)
    volume = (opening[..., 0] * (opening[..., 1] > 0.5)).sum(1)
    return opening, volume
