import torch
from torch import nn

from resnet import ResNet, freeze_norms

torch.manual_seed(20)
gen = torch.Generator().manual_seed(20)
marks = torch.randn(7, 1, 5, 5, generator=gen) * 1.5


def pictures(n, kinds):
    y = torch.randint(len(kinds), (n,), generator=gen)
    x = 0.4 * torch.randn(n, 1, 10, 10, generator=gen)
    r, c = torch.randint(6, (2, n), generator=gen).tolist()
    for i in range(n):
        x[i, :, r[i] : r[i] + 5, c[i] : c[i] + 5] += marks[kinds[y[i]]]
    return x, y


def fit(net, kinds, steps, batch, lr, frozen=False):
    optimizer = torch.optim.Adam((p for p in net.parameters() if p.requires_grad), lr=lr)
    for step in range(1, steps + 1):
        net.train()
        if frozen:
            freeze_norms(net)
        x, y = pictures(batch, kinds)
        loss = nn.functional.cross_entropy(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print(f"  {step} loss {loss.item():.4f}")


net = ResNet(4)
fit(net, [0, 1, 2, 3], 40, 32, 1e-2)
net.fc = nn.Linear(net.fc.in_features, 3)
freeze_norms(net)
fit(net, [4, 5, 6], 60, 8, 5e-3, frozen=True)
