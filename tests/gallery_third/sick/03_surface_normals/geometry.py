import torch
import torch.nn.functional as F


def unit(v):
    return F.normalize(v, dim=1)


def coarse_normals(height):
    """Normals from finite differences of a height map (B,1,H,W)."""
    dx = F.pad(height[..., :, 1:] - height[..., :, :-1], (0, 1, 0, 0))
    dy = F.pad(height[..., 1:, :] - height[..., :-1, :], (0, 0, 0, 1))
    return unit(torch.cat([-dx, -dy, torch.ones_like(dx)], dim=1))


def mean_angle(a, b):
    cosine = (a * b).sum(dim=1).clamp(-1.0, 1.0)
    return torch.acos(cosine).mean()
