import torch
from torch import nn

from overlap import DiceLoss
from slides import slides


class Segmenter(nn.Module):
    def __init__(self, width=10):
        super().__init__()
        self.inp = nn.Conv2d(1, width, 3, padding=1)
        self.mid = nn.Conv2d(width, width, 3, padding=2, dilation=2)
        self.out = nn.Conv2d(width, 1, 1)

    def forward(self, x):
        h = torch.relu(self.inp(x))
        return self.out(torch.relu(h + self.mid(h)))


torch.manual_seed(26)
gen = torch.Generator().manual_seed(27)
net, criterion = Segmenter(), DiceLoss()
optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)

for step in range(1, 61):
    slide, mask = slides(16, gen)
    out = net(slide)
    loss = criterion(out, mask)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        right = ((out > 0) == (mask > 0)).float().mean().item()
        print(f"step {step} dice loss {loss.item():.4f} pixels right {right:.3f}")
