"""Message passing over a list of edges."""

import torch
from torch import nn

import a


class Propagate(nn.Module):
    def __init__(self, source):
        super().__init__()
        inp, out = source.weight.shape
        self.lin = nn.Linear(inp, out, bias=False)
        self.lin.weight.data.copy_(source.weight.data.t())
        self.bias = nn.Parameter(source.bias.data.clone())

    def forward(self, x, edges, weight):
        start, end = edges
        messages = self.lin(x)[start] * weight[:, None]
        out = torch.zeros(x.shape[0], messages.shape[1]).index_add(0, end, messages)
        return out + self.bias


class Net(nn.Module):
    def __init__(self, source):
        super().__init__()
        self.convs = nn.ModuleList([Propagate(source.gc1), Propagate(source.gc2)])

    def forward(self, x, edges):
        ones = torch.ones(edges.shape[1])
        degree = torch.zeros(x.shape[0]).scatter_add(0, edges[1], ones)
        root = degree.rsqrt()
        weight = root[edges[0]] * root[edges[1]]
        for i, conv in enumerate(self.convs):
            x = conv(x, edges, weight)
            if i == 0:
                x = x * (x > 0)
        return torch.log_softmax(x, dim=-1)


def main():
    x, cites, area = a.papers()
    edges = cites.nonzero().t()
    mask = torch.zeros(40, dtype=torch.bool)
    mask[::2] = True
    torch.manual_seed(56)
    net = Net(a.GCN())
    optimizer = torch.optim.SGD(net.parameters(), lr=0.3, weight_decay=5e-4)
    for epoch in range(5):
        optimizer.zero_grad()
        out = net(x, edges)
        loss = nn.functional.nll_loss(out[mask], area[mask])
        loss.backward()
        optimizer.step()
        print(epoch, loss.item())


if __name__ == "__main__":
    main()
