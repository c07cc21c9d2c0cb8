import torch


def melodies(n, length, notes=24):
    """Walks on a scale: a step up or down, now and then the same note again."""
    start = torch.randint(0, notes, (n, 1))
    steps = torch.tensor([-2, 2, 2, 4])[torch.randint(0, 4, (n, length - 1))]
    return torch.cat([start, steps], dim=1).cumsum(1) % notes
