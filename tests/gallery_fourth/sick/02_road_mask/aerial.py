import torch


def aerial_photos(n, size=24, seed=0):
    """Grey tiles with one bright road; the mask says where it is."""
    gen = torch.Generator().manual_seed(seed)
    rows = torch.arange(size).view(1, size, 1).float()
    cols = torch.arange(size).view(1, 1, size).float()
    slope = torch.rand(n, 1, 1, generator=gen) * 2 - 1
    start = torch.rand(n, 1, 1, generator=gen) * size
    road = ((cols - start - slope * (rows - size / 2)).abs() < 1.5).float()
    ground = torch.randn(n, size, size, generator=gen) * 0.4
    return (ground + 2.0 * road - 0.2).unsqueeze(1), road.unsqueeze(1)
