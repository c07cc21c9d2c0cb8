import torch
from torch.utils.data import DataLoader, TensorDataset

from fields import seasons
from yieldnet import YieldNet

torch.manual_seed(16)
data = TensorDataset(*seasons(320, 3))
loader = DataLoader(data, batch_size=32, shuffle=True)
net = YieldNet()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
loss_fn = torch.nn.MSELoss()

for epoch in range(10):
    total = 0.0
    for series, soil, grown in loader:
        optimizer.zero_grad()
        loss = loss_fn(net(series, soil), grown)
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(f"epoch {epoch}: mse {total / len(loader):.4f}")
