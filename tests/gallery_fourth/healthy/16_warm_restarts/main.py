import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(16)
gen = torch.Generator().manual_seed(16)
angle = torch.rand(384, generator=gen) * 4
arm = torch.randint(3, (384,), generator=gen)
turn = angle + arm * 2.0944
points = torch.stack([angle * turn.cos(), angle * turn.sin()], 1) / 2 + 0.03 * torch.randn(384, 2, generator=gen)
loader = DataLoader(TensorDataset(points, arm), batch_size=32, shuffle=True)

net = nn.Sequential(nn.Linear(2, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 3))
optimizer = torch.optim.Adam(net.parameters(), lr=2e-2)
scheduler = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0=3, T_mult=1, eta_min=0.0)

for epoch in range(9):
    total = 0.0
    for i, (x, y) in enumerate(loader):
        loss = nn.functional.cross_entropy(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step(epoch + i / len(loader))
        total += loss.item()
    print(f"epoch {epoch} loss {total / len(loader):.4f} lr {scheduler.get_last_lr()[0]:.5f}")
