"""A tone curve that brings the histogram of one photo to that of another."""
import torch
from torch import nn

BINS = 24


def soft_histogram(values, centres, width=0.03):
    """values (N,), centres (K,) -> shares (K,)"""
    distance = values.reshape(-1, 1) - centres
    member = torch.softmax(-(distance / width) ** 2, dim=1)
    return member.mean(0)


class ToneCurve(nn.Module):
    def __init__(self, knots=12):
        super().__init__()
        self.rise = nn.Parameter(torch.zeros(knots))

    def forward(self, v):
        steps = torch.softmax(self.rise, dim=0)
        heights = torch.cat([torch.zeros(1), steps.cumsum(0)])
        place = v.clamp(0, 1 - 1e-6) * len(steps)
        low = place.long()
        return heights[low] + (place - low) * steps[low]


torch.manual_seed(14)
centres = torch.linspace(0, 1, BINS)
curve = ToneCurve()
optimizer = torch.optim.Adam(curve.parameters(), lr=0.1)
for step in range(1, 81):
    dark, bright = torch.rand(400) ** 1.8, torch.rand(400) ** 0.8
    ours, theirs = soft_histogram(curve(dark), centres), soft_histogram(bright, centres)
    loss = (ours.cumsum(0) - theirs.cumsum(0)).abs().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        print(f"step {step} distance {loss.item():.4f}")
