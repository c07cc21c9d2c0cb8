"""Node classification on a random graph with communities."""
import torch
from torch import nn


class GraphConv(nn.Module):
    def __init__(self, inp, out):
        super().__init__()
        self.lin = nn.Linear(inp, out)

    def forward(self, x, adj):
        return adj @ self.lin(x)


class GCN(nn.Module):
    def __init__(self, inp, hidden, classes):
        super().__init__()
        self.conv1 = GraphConv(inp, hidden)
        self.conv2 = GraphConv(hidden, classes)

    def forward(self, x, adj):
        return self.conv2(torch.relu(self.conv1(x, adj)), adj)


def community_graph(nodes=90, groups=3):
    group = torch.arange(nodes) % groups
    same = group[:, None] == group[None]
    p = torch.where(same, torch.tensor(0.25), torch.tensor(0.03))
    upper = torch.bernoulli(p).triu(1)
    adj = upper + upper.T + torch.eye(nodes)
    deg = adj.sum(1).rsqrt()
    x = torch.randn(nodes, 8) + 0.5 * nn.functional.one_hot(group, 8).float()
    return x, deg[:, None] * adj * deg[None], group


class Experiment:
    def __init__(self, lr=0.05):
        self.x, self.adj, self.y = community_graph()
        self.train_mask = torch.rand(len(self.y)) < 0.4
        self.model = GCN(8, 16, 3)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=lr)
        self.criterion = nn.CrossEntropyLoss()

    def update(self):
        self.model.train()
        out = self.model(self.x, self.adj)
        loss = self.criterion(out[self.train_mask], self.y[self.train_mask])
        loss.backward()
        self.optimizer.zero_grad()
        self.optimizer.step()
        return loss.item()

    @torch.no_grad()
    def accuracy(self):
        self.model.eval()
        out = self.model(self.x, self.adj).argmax(1)
        return (out == self.y)[~self.train_mask].float().mean().item()


if __name__ == "__main__":
    torch.manual_seed(16)
    exp = Experiment()
    for epoch in range(40):
        loss = exp.update()
        if epoch % 8 == 0 or epoch == 39:
            print(f"epoch {epoch:2d} loss {loss:.4f} test {exp.accuracy():.3f}")
