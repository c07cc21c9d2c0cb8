import torch
from torch import nn

torch.manual_seed(21)
gen = torch.Generator().manual_seed(21)


class Surface(nn.Module):
    def __init__(self, width=64, p=0.1):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(1, width), nn.ReLU(), nn.Dropout(p), nn.Linear(width, width), nn.ReLU(), nn.Dropout(p), nn.Linear(width, 1)
        )

    def forward(self, x):
        return self.layers(x)


@torch.no_grad()
def spread(net, x, passes=20):
    """Uncertainty from many passes with dropout left on."""
    net.train()
    out = torch.stack([net(x) for _ in range(passes)])
    return out.mean(0), out.std(0)


x = torch.rand(300, 1, generator=gen) * 4 - 2
y = torch.sin(2 * x) + 0.1 * torch.randn(300, 1, generator=gen)
net = Surface()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range(10):
    net.train()
    for part in torch.randperm(300).split(30):
        loss = nn.functional.mse_loss(net(x[part]), y[part])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    mean, std = spread(net, torch.tensor([[0.5], [4.0]]))
    print(f"epoch {epoch} loss {loss.item():.4f} spread inside {std[0].item():.3f} outside {std[1].item():.3f}")
