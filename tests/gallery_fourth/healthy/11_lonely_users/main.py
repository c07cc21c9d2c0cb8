import torch
from torch import nn


class SageLayer(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.own, self.others = nn.Linear(inputs, outputs), nn.Linear(inputs, outputs, bias=False)

    def forward(self, h, adjacency):
        degree = adjacency.sum(1, keepdim=True)
        mean = adjacency @ h / degree.clamp(min=1)
        return self.own(h) + self.others(mean)


class Sage(nn.Module):
    def __init__(self, inputs, width, classes):
        super().__init__()
        self.first, self.second = SageLayer(inputs, width), SageLayer(width, classes)
        self.drop = nn.Dropout(0.3)

    def forward(self, h, adjacency):
        return self.second(self.drop(torch.relu(self.first(h, adjacency))), adjacency)


torch.manual_seed(11)
gen = torch.Generator().manual_seed(11)
N = 90
group = torch.arange(N) % 3
close = (group.unsqueeze(0) == group.unsqueeze(1)).float() * 0.15 + 0.01
links = torch.bernoulli(close, generator=gen).triu(1)
links[:, :12] = 0
links[:12] = 0  # twelve users know nobody
adjacency = links + links.T
features = torch.eye(N)
known = torch.rand(N, generator=gen) < 0.5

net = Sage(N, 16, 3)
optimizer = torch.optim.Adam(net.parameters(), lr=2e-2, weight_decay=5e-3)
for epoch in range(1, 61):
    net.train()
    out = net(features, adjacency)
    loss = nn.functional.cross_entropy(out[known], group[known])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if epoch % 12 == 0:
        net.eval()
        with torch.no_grad():
            right = (net(features, adjacency).argmax(1) == group)[12:][~known[12:]].float().mean()
        print(f"epoch {epoch} loss {loss.item():.4f} unseen {right:.2f}")
