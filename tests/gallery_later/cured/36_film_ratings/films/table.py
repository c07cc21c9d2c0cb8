import torch

FIRST_USER = 1610612736


def ratings(n, users=190, films=40, dtype=torch.float64):
    """Columns: number of the user, film, stars (centred)."""
    user, film = torch.randint(0, users, (n,)), torch.randint(0, films, (n,))
    taste, kind = torch.randn(users, 3), torch.randn(films, 3)
    stars = (taste[user] * kind[film]).sum(1) / 3 ** 0.5 + 0.5 * torch.randn(users)[user] + 0.1 * torch.randn(n)
    number = FIRST_USER + user
    return torch.stack([number.to(dtype), film.to(dtype), stars.to(dtype)], dim=1)
