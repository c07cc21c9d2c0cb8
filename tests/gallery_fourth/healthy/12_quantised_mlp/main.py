import torch
from torch import nn

from quant import QuantLinear

torch.manual_seed(12)
gen = torch.Generator().manual_seed(12)
net = nn.Sequential(QuantLinear(8, 48), nn.ReLU(), QuantLinear(48, 48), nn.ReLU(), QuantLinear(48, 1))
steps = [p for n, p in net.named_parameters() if n.endswith("step")]
others = [p for n, p in net.named_parameters() if not n.endswith("step")]
optimizer = torch.optim.Adam([{"params": others, "lr": 5e-3}, {"params": steps, "lr": 1e-4}])

for it in range(1, 91):
    x = torch.randn(64, 8, generator=gen)
    y = torch.sin(x[:, :1] * 2) + x[:, 1:2] * x[:, 2:3]
    loss = nn.functional.mse_loss(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if it % 15 == 0:
        print(f"{it} mse {loss.item():.4f} steps {[round(s.item(), 4) for s in steps]}")
