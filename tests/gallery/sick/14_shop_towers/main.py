"""Two towers for shop recommendations: users and items meet in a dot product."""
import torch
from torch import nn
import torch.nn.functional as F


class Project(nn.Module):
    def __init__(self, inp, out):
        super().__init__()
        self.fc = nn.Linear(inp, out)
        self.norm = nn.LayerNorm(out)

    def forward(self, x):
        return F.gelu(self.norm(self.fc(x)))


class UserTower(nn.Module):
    def __init__(self, users, dim):
        super().__init__()
        self.table = nn.Embedding(users, dim)
        self.proj = Project(dim, dim)

    def forward(self, u):
        return F.normalize(self.proj(self.table(u)), dim=1)


class TextPool(nn.Module):
    def __init__(self, words, dim):
        super().__init__()
        self.words = nn.Embedding(words, dim, padding_idx=0)
        self.mix = Project(dim, dim)

    def forward(self, title):
        mask = (title > 0).unsqueeze(-1)
        pooled = (self.words(title) * mask).sum(1) / mask.sum(1).clamp(min=1)
        return self.mix(pooled).data


class ItemTower(nn.Module):
    def __init__(self, words, dim):
        super().__init__()
        self.text = TextPool(words, dim)

    def forward(self, title):
        return F.normalize(self.text(title), dim=1)


class Towers(nn.Module):
    def __init__(self, users, words, dim=24):
        super().__init__()
        self.user = UserTower(users, dim)
        self.item = ItemTower(words, dim)


class Shop(nn.Module):
    def __init__(self, users=60, words=50):
        super().__init__()
        self.towers = Towers(users, words)
        self.scale = nn.Parameter(torch.tensor(2.0))

    def forward(self, u, title):
        return self.scale.exp() * self.towers.user(u) @ self.towers.item(title).T


def purchases(n):
    user = torch.randint(0, 60, (n,))
    title = torch.randint(1, 50, (n, 5))
    title[:, 0] = user % 12 + 1
    title[:, 1] = user % 7 + 20
    title[torch.rand(n, 5) < 0.15] = 0
    return user, title


def main():
    torch.manual_seed(8)
    shop = Shop()
    opt = torch.optim.Adam(shop.parameters(), lr=1e-2)
    for step in range(100):
        user, title = purchases(48)
        logits = shop(user, title)
        target = torch.arange(len(user))
        loss = (F.cross_entropy(logits, target) + F.cross_entropy(logits.T, target)) / 2
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 20 == 0 or step == 99:
            print(f"{step:3d} in-batch loss {loss.item():.4f}")


main()
