import torch
from torch.utils.data import DataLoader, TensorDataset

from flats import flats
from rentnet import RentNet

torch.manual_seed(24)
gen = torch.Generator().manual_seed(24)
loader = DataLoader(TensorDataset(*flats(480, gen)), batch_size=48, shuffle=True)
net = RentNet(5, 6)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
criterion = torch.nn.MSELoss()

for epoch in range(10):
    total, gap = 0.0, 0.0
    for numeric, district, rent in loader:
        optimizer.zero_grad()
        out = net(numeric, district)
        loss = criterion(out, rent)
        loss.backward()
        optimizer.step()
        total += loss.item() / len(loader)
        gap += (out - rent).abs().mean().item() / len(loader)
    print(f"epoch {epoch} mse {total:.3f} mean error {100 * gap:.0f} euros")
