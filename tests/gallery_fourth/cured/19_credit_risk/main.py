import torch
from torch.nn import functional as F

from evaluate import evaluate
from model import RiskNet

torch.manual_seed(19)
gen = torch.Generator().manual_seed(20)
x = torch.randn(500, 8, generator=gen)
y = ((x[:, 0] * x[:, 1] + x[:, 2] - 0.5 * x[:, 3] + 0.3 * torch.randn(500, generator=gen)) > 0).float()
net = RiskNet(8)
optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)

for epoch in range(10):
    for part in torch.randperm(400).split(50):
        loss = F.binary_cross_entropy_with_logits(net(x[part]), y[part])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    first, second = evaluate(net, x[400:], y[400:]), evaluate(net, x[400:], y[400:])
    print(f"epoch {epoch} train {loss.item():.3f} valid {first[0]:.4f} again {second[0]:.4f} accuracy {first[1]:.2f}")
