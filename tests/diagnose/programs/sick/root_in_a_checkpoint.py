import torch
import torch.utils.checkpoint
import torch.nn as nn

torch.manual_seed(0)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.f = nn.Linear(64, 64)

    def forward(self, x):
        h = (self.f(x) * (torch.arange(64) > 3)).abs()
        return torch.sqrt(h)  # <-- nan


blocks = nn.ModuleList([Block(), Block()])
opt = torch.optim.SGD(blocks.parameters(), lr=1e-3)
for step in range(5):
    x = torch.randn(64, 64)
    for block in blocks:
        x = torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False)
    loss = x.mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
