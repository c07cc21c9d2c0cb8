import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(6)
net = nn.Sequential(nn.Linear(7, 11), nn.Tanh(), nn.Linear(11, 3))
rows = torch.randn(5, 7)
labels = torch.randint(0, 3, (5,))
for _ in range(2):
    totals = [torch.zeros_like(each) for each in net.parameters()]
    for row, label in zip(rows, labels):
        loss = F.cross_entropy(net(row[None]), label[None])
        grads = torch.autograd.grad(loss, list(net.parameters()))
        norm = torch.sqrt(sum((each**2).sum() for each in grads))
        scale = torch.clamp(1.0 / (norm + 1e-6), max=1.0)
        totals = [total + each * scale for total, each in zip(totals, grads)]
    with torch.no_grad():
        for parameter, total in zip(net.parameters(), totals):
            parameter -= 0.1 * total / len(rows)
