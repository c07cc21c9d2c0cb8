import torch
import torch.nn as nn
import torch.nn.functional as F


class Router(nn.Module):
    def __init__(self, dim, experts):
        super().__init__()
        self.gate = nn.Linear(dim, experts, bias=False)

    def forward(self, x):
        logits = self.gate(x)
        return F.softmax(logits, dim=-1)


class SoftExperts(nn.Module):
    def __init__(self, dim, experts):
        super().__init__()
        self.router = Router(dim, experts)
        self.up = nn.Parameter(torch.randn(experts, dim, 2 * dim) / dim**0.5)
        self.down = nn.Parameter(torch.randn(experts, 2 * dim, dim) / (2 * dim) ** 0.5)

    def forward(self, x):
        weight = self.router(x)
        h = torch.relu(torch.einsum("btd,edh->bteh", x, self.up))
        y = torch.einsum("bteh,ehd->bted", h, self.down)
        return (weight.unsqueeze(-1) * y).sum(dim=2)


class Tagger(nn.Module):
    def __init__(self, words=50, dim=16, experts=4, tags=6):
        super().__init__()
        self.embed = nn.Embedding(words, dim)
        self.experts = SoftExperts(dim, experts)
        self.norm = nn.LayerNorm(dim)
        self.out = nn.Linear(dim, tags)

    def forward(self, ids):
        x = self.embed(ids)
        x = self.norm(x + self.experts(x))
        return self.out(x)


def main():
    torch.manual_seed(0)
    model = Tagger()
    opt = torch.optim.Adam(model.parameters(), lr=3e-3)
    ids = torch.randint(0, 50, (3, 5, 12))
    tags = torch.randint(0, 6, (3, 5, 12))
    for step in range(3):
        loss = F.cross_entropy(model(ids[step]).flatten(0, 1), tags[step].flatten())
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(step, loss.item())


if __name__ == "__main__":
    main()
