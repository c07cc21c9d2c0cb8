"""Two graph convolutions with the dense adjacency."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class GraphConv(nn.Module):
    def __init__(self, inp, out):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(inp, out))
        self.bias = nn.Parameter(torch.zeros(out))
        nn.init.xavier_uniform_(self.weight)

    def forward(self, x, adj):
        return adj @ (x @ self.weight) + self.bias


class GCN(nn.Module):
    def __init__(self, inp=20, hidden=16, classes=4):
        super().__init__()
        self.gc1 = GraphConv(inp, hidden)
        self.gc2 = GraphConv(hidden, classes)

    def forward(self, x, adj):
        x = F.relu(self.gc1(x, adj))
        return self.gc2(x, adj)


def papers(n=40):
    g = torch.Generator().manual_seed(55)
    area = torch.randint(0, 4, (n,), generator=g)
    x = torch.randn(n, 20, generator=g) + F.one_hot(area, 20) * 1.5
    near = torch.where(area[:, None] == area[None, :], 0.3, 0.03)
    cites = torch.rand(n, n, generator=g) < near
    cites = (cites | cites.T).fill_diagonal_(True)
    return x, cites, area


def normalised(cites):
    a = torch.where(cites, 1.0, 0.0)
    d = a.sum(1).pow(-0.5)
    return d[:, None] * a * d[None, :]


if __name__ == "__main__":
    x, cites, area = papers()
    known = torch.arange(0, 40, 2)
    torch.manual_seed(56)
    model = GCN()
    opt = torch.optim.SGD(model.parameters(), lr=0.3, weight_decay=5e-4)
    adj = normalised(cites)
    for step in range(5):
        loss = F.cross_entropy(model(x, adj)[known], area[known])
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(step, loss.item())
