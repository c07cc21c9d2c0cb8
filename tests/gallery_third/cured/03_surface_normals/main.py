import torch
from torch import nn
from torch.utils.data import DataLoader

from geometry import coarse_normals, mean_angle, unit
from scans import Scans


class Refiner(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(4, width, 3, padding=1), nn.ReLU(),
            nn.Conv2d(width, width, 3, padding=1), nn.ReLU(),
        )
        self.delta = nn.Conv2d(width, 3, 1)
        nn.init.zeros_(self.delta.weight)
        nn.init.zeros_(self.delta.bias)

    def forward(self, height):
        coarse = coarse_normals(height)
        return unit(coarse + self.delta(self.body(torch.cat([height, coarse], dim=1))))


torch.manual_seed(3)
model = Refiner()
optim = torch.optim.Adam(model.parameters(), lr=5e-3)
loader = DataLoader(Scans(), batch_size=16, shuffle=True)
for epoch in range(6):
    for height, normal in loader:
        loss = mean_angle(model(height), normal)
        optim.zero_grad()
        loss.backward()
        optim.step()
    print(f"epoch {epoch + 1}: mean angle {torch.rad2deg(loss.detach()):.2f} degrees")
