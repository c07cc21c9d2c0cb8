import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class LoRA(nn.Module):
    def __init__(self, base, r=2):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.a = nn.Parameter(torch.randn(r, base.in_features) * 0.1)
        self.b = nn.Parameter(torch.zeros(base.out_features, r))

    def forward(self, x):
        return self.base(x) + x @ self.a.T @ self.b.T


net = nn.Sequential(LoRA(nn.Linear(8, 16)), nn.ReLU(), LoRA(nn.Linear(16, 3)))
opt = torch.optim.AdamW([p for p in net.parameters() if p.requires_grad], lr=1e-2)
for step in range(20):
    loss = F.cross_entropy(net(torch.randn(16, 8)), torch.randint(0, 3, (16,)))
    opt.zero_grad()
    loss.backward()
    opt.step()
