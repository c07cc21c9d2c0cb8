import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 16), nn.GELU(), nn.Linear(16, 3))
opt = torch.optim.AdamW(net.parameters(), lr=1e-3)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 10)
STEPS = 2
for epoch in range(2):
    for i in range(12):
        x = torch.randn(8, 6)
        y = torch.randint(0, 3, (8,))
        loss = nn.functional.cross_entropy(net(x), y) / STEPS
        for p in net.parameters():
            p.grad = None  # <-- zero_grad
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        if (i + 1) % STEPS == 0:
            opt.step()
            sched.step()
