import torch


class Calendar:
    """Days drawn at random: season as sine and cosine, four standardised weather columns."""

    def draw(self, n):
        day = 6.283 * torch.rand(n)
        weather = torch.randn(n, 4)
        x = torch.cat([torch.stack([day.sin(), day.cos()], dim=1), weather], dim=1)
        y = 1.5 * torch.relu(day.sin()) * (1 + 0.5 * weather[:, 0]) - 0.6 * weather[:, 2].clamp(min=0)
        return x, y + 0.1 * torch.randn(n)
