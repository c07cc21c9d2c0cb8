import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)


def rotate(x):
    half = x.shape[-1] // 2
    return torch.stack([-x[..., 1::2], x[..., ::2]], dim=-1).flatten(-2)  # <-- forward


fc = nn.Linear(8, 8)
x = torch.randn(3, 5, 8)
angle = torch.arange(5.0)[:, None] * (10000.0 ** (-torch.arange(4.0) / 4))
angles = torch.cat([angle, angle], dim=-1)
q = fc(x)
rotated = q * angles.cos() + rotate(q) * angles.sin()
loss = (rotated @ rotated.transpose(1, 2)).softmax(-1).square().sum()
loss.backward()
