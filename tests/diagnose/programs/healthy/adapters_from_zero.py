"""Adapters that begin at zero, and a rate that warms up from zero."""

import torch, torch.nn as nn

torch.manual_seed(0)


class LoRA(nn.Module):
    def __init__(self, base, r=4):
        super().__init__()
        self.base = base
        for p in base.parameters():
            p.requires_grad_(False)
        self.A = nn.Parameter(torch.randn(r, base.in_features) * 0.02)
        self.B = nn.Parameter(torch.zeros(base.out_features, r))

    def forward(self, x):
        return self.base(x) + (x @ self.A.t()) @ self.B.t()


net = nn.Sequential(
    LoRA(nn.Linear(16, 64)), nn.ReLU(), LoRA(nn.Linear(64, 64)), nn.LayerNorm(64), nn.ReLU(), LoRA(nn.Linear(64, 4))
)
opt = torch.optim.AdamW([p for p in net.parameters() if p.requires_grad], lr=1e-3)
sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1, s / 10))
X = torch.randn(256, 16)
Y = X[:, :4].argmax(1)
for s in range(40):
    i = torch.randint(0, 256, (32,))
    loss = nn.functional.cross_entropy(net(X[i]), Y[i])
    opt.zero_grad()
    loss.backward()
    opt.step()
    sched.step()
