"""Top-2 mixture of experts, tokens sent to their experts by index."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Expert(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.w1 = nn.Linear(dim, hidden)
        self.w2 = nn.Linear(hidden, dim)

    def forward(self, x):
        return self.w2(F.relu(self.w1(x)))


class SparseMoE(nn.Module):
    def __init__(self, dim, hidden, experts=4, top=2):
        super().__init__()
        self.gate = nn.Linear(dim, experts, bias=False)
        self.experts = nn.ModuleList(Expert(dim, hidden) for _ in range(experts))
        self.top = top

    def forward(self, x):
        tokens = x.reshape(-1, x.shape[-1])
        weight, chosen = torch.topk(self.gate(tokens), self.top, dim=-1)
        weight = F.softmax(weight, dim=-1)
        out = torch.zeros_like(tokens)
        for i, expert in enumerate(self.experts):
            row, slot = torch.where(chosen == i)
            if row.numel():
                out.index_add_(0, row, weight[row, slot, None] * expert(tokens[row]))
        return out.view_as(x)


class Queries(nn.Module):
    def __init__(self, words=60, dim=16, classes=6):
        super().__init__()
        self.embed = nn.EmbeddingBag(words, dim, mode="mean")
        self.moe = SparseMoE(dim, 24)
        self.norm = nn.LayerNorm(dim)
        self.out = nn.Linear(dim, classes)

    def forward(self, ids):
        x = self.embed(ids)
        return self.out(self.norm(x + self.moe(x)))


def queries(step, n=24):
    g = torch.Generator().manual_seed(600 + step)
    return torch.randint(0, 60, (n, 5), generator=g), torch.randint(0, 6, (n,), generator=g)


if __name__ == "__main__":
    torch.manual_seed(601)
    model = Queries()
    opt = torch.optim.SGD(model.parameters(), lr=0.2)
    for step in range(3):
        ids, label = queries(step)
        loss = F.cross_entropy(model(ids), label)
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(step, loss.item())
