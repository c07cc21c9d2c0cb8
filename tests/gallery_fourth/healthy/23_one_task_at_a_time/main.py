import torch
from torch import nn

from tasks import Sampler, Shared

torch.manual_seed(23)
sampler = Sampler(torch.Generator().manual_seed(23))
net = Shared({"colour": 4, "weight": 1, "danger": 2})
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
criteria = {"colour": nn.CrossEntropyLoss(), "weight": nn.MSELoss(), "danger": nn.CrossEntropyLoss()}
latest = {}
for step in range(1, 111):
    task, x, target = sampler.next()
    loss = criteria[task](net(x, task), target)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    latest[task] = round(loss.item(), 3)
    if step % 22 == 0:
        print(step, latest)
