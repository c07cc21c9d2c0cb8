"""Does the second sentence follow from the first? One encoder, called twice."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Encoder(nn.Module):
    def __init__(self, vocab=70, dim=20):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.score = nn.Linear(dim, 1)
        self.dense = nn.Linear(dim, dim)

    def forward(self, ids):
        x = self.embed(ids)
        weight = self.score(x).softmax(dim=1)
        return torch.tanh(self.dense((weight * x).sum(dim=1)))


class Follows(nn.Module):
    def __init__(self, dim=20):
        super().__init__()
        self.encoder = Encoder(dim=dim)
        self.hidden = nn.Linear(4 * dim, 24)
        self.out = nn.Linear(24, 3)

    def forward(self, premise, claim):
        u = self.encoder(premise)
        v = self.encoder(claim)
        x = torch.cat([u, v, (u - v).abs(), u * v], dim=1)
        return self.out(F.relu(self.hidden(x)))


def sentences(step, n=9):
    g = torch.Generator().manual_seed(500 + step)
    premise = torch.randint(0, 70, (n, 10), generator=g)
    claim = torch.randint(0, 70, (n, 10), generator=g)
    return premise, claim, torch.randint(0, 3, (n,), generator=g)


if __name__ == "__main__":
    torch.manual_seed(44)
    model = Follows()
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(2):
        premise, claim, label = sentences(step)
        loss = F.cross_entropy(model(premise, claim), label)
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(step, loss.item())
