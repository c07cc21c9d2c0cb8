"""Message passing with attention; -inf where there is no edge."""
import torch
from torch import nn
import torch.nn.functional as F


class GAT(nn.Module):
    def __init__(self, inp, out):
        super().__init__()
        self.lin = nn.Linear(inp, out, bias=False)
        self.src, self.dst = nn.Linear(out, 1, bias=False), nn.Linear(out, 1)

    def forward(self, x, adj):
        h = self.lin(x)
        e = F.leaky_relu(self.src(h) + self.dst(h).T, 0.2)
        a = e.masked_fill(adj == 0, float("-inf")).softmax(dim=1)
        return a @ h


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.g1, self.g2 = GAT(6, 24), GAT(24, 3)

    def forward(self, x, adj):
        return self.g2(F.elu(self.g1(x, adj)), adj)


torch.manual_seed(27)
n = 60
y = torch.arange(n) % 3
adj = (torch.rand(n, n) < torch.where(y[:, None] == y, 0.3, 0.03)).float()
adj = ((adj + adj.T + torch.eye(n)) > 0).float()
x = torch.randn(n, 6)
x[:, :3] += F.one_hot(y, 3)
known = torch.rand(n) < 0.5
model = Model()
opt = torch.optim.Adam(model.parameters(), lr=2e-2, weight_decay=5e-4)
for epoch in range(60):
    model.train()
    loss = F.cross_entropy(model(x, adj)[known], y[known])
    opt.zero_grad()
    loss.backward()
    opt.step()
    if epoch % 12 == 11:
        model.eval()
        with torch.no_grad():
            acc = (model(x, adj).argmax(1) == y)[~known].float().mean()
        print(f"epoch {epoch + 1} loss {loss.item():.4f} unseen {acc:.3f}")
