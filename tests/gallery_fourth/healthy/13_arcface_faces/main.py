import itertools

import torch
from torch import nn

from margin import ArcMargin

torch.manual_seed(13)
gen = torch.Generator().manual_seed(13)
faces = torch.randn(12, 1, 8, 8, generator=gen)


def album(n):
    who = torch.randint(12, (n,), generator=gen)
    return faces[who] + 0.6 * torch.randn(n, 1, 8, 8, generator=gen), who


embed = nn.Sequential(nn.Conv2d(1, 12, 3), nn.PReLU(), nn.Flatten(), nn.Linear(432, 24), nn.BatchNorm1d(24))
head = ArcMargin(24, 12)
optimizer = torch.optim.SGD(itertools.chain(embed.parameters(), head.parameters()), lr=0.1, momentum=0.9, weight_decay=5e-4)
scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, [40, 60], 0.1)
for step in range(1, 71):
    x, who = album(48)
    loss = head(embed(x), who)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    if step % 14 == 0:
        print(f"step {step} loss {loss.item():.4f} lr {scheduler.get_last_lr()[0]:.3g}")
