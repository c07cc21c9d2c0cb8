import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(9)
gen = torch.Generator().manual_seed(9)
x = torch.randn(352, 12, generator=gen)
y = (torch.sin(x[:, 0]) + x[:, 1] - 0.5 * x[:, 2] + 0.1 * torch.randn(352, generator=gen)).unsqueeze(1)
loader = DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True)  # 22 batches: the last group is short
ACCUMULATE = 4

net = nn.Sequential(nn.Linear(12, 48), nn.SiLU(), nn.Linear(48, 48), nn.SiLU(), nn.Linear(48, 1))
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-2)
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)

for epoch in range(5):
    optimizer.zero_grad(set_to_none=True)
    total = 0.0
    for i, (a, b) in enumerate(loader, 1):
        loss = nn.functional.mse_loss(net(a), b)
        scaler.scale(loss / ACCUMULATE).backward()
        total += loss.item()
        if i % ACCUMULATE == 0 or i == len(loader):
            scaler.unscale_(optimizer)
            nn.utils.clip_grad_norm_(net.parameters(), 5.0)
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad(set_to_none=True)
    print(f"epoch {epoch} mse {total / len(loader):.4f} scale {scaler.get_scale():.0f}")
