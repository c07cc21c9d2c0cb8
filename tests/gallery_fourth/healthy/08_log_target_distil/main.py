import torch
from torch.nn import functional as F

from students import Distiller, net

torch.manual_seed(8)
gen = torch.Generator().manual_seed(8)
centres = torch.randn(6, 16, generator=gen)


def batch(n=64):
    y = torch.randint(6, (n,), generator=gen)
    return centres[y] + 0.9 * torch.randn(n, 16, generator=gen), y


teacher, student = net(64), net(10)
optimizer = torch.optim.Adam(teacher.parameters(), lr=5e-3)
for step in range(40):
    x, y = batch()
    loss = F.cross_entropy(teacher(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"teacher {loss.item():.4f}")

distiller = Distiller(teacher, student)
optimizer = torch.optim.Adam(student.parameters(), lr=1e-2)
for step in range(1, 71):
    loss = distiller.loss(*batch())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 14 == 0:
        print(f"student {step} {loss.item():.4f}")
