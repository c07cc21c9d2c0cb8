import torch


def county(rural, n=60):
    """Junction features, 0/1 adjacency and the volume to be predicted."""
    place = torch.rand(n, 2)
    near = torch.cdist(place, place) < 0.28
    adjacency = (near & ~torch.eye(n, dtype=torch.bool)).float()
    if rural:
        lonely = torch.randperm(n)[:2]
        adjacency[lonely] = 0
        adjacency[:, lonely] = 0
    x = torch.randn(n, 5)
    own = x[:, 0] - 0.5 * x[:, 1]
    around = adjacency @ x[:, 2] / adjacency.sum(1).clamp(min=1)
    return x, adjacency, own + 2 * around + 0.1 * torch.randn(n)
