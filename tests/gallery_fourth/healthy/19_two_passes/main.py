import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(19)
gen = torch.Generator().manual_seed(19)


class TwoHeads(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU())
        self.price = nn.Linear(32, 1)
        self.kind = nn.Linear(32, 3)

    def forward(self, x):
        h = self.trunk(x)
        return self.price(h).squeeze(1), self.kind(h)


weights = torch.randn(10, 3, generator=gen)
net = TwoHeads()
optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
shared = list(net.trunk.parameters())
for step in range(1, 51):
    x = torch.randn(48, 10, generator=gen)
    kind = (x @ weights).argmax(1)
    price = torch.tanh(x[:, 0] * x[:, 1]) + 0.3 * kind
    price_out, kind_out = net(x)
    losses = F.mse_loss(price_out, price), F.cross_entropy(kind_out, kind)

    # one pass for each task over the same graph; the second adds to the first
    optimizer.zero_grad()
    losses[0].backward(retain_graph=True)
    first = torch.cat([p.grad.flatten() for p in shared]).clone()
    losses[1].backward()
    both = torch.cat([p.grad.flatten() for p in shared])
    agreement = F.cosine_similarity(first, both - first, dim=0)
    optimizer.step()
    if step % 10 == 0:
        print(f"{step} price {losses[0].item():.4f} kind {losses[1].item():.4f} agreement {agreement.item():.2f}")
