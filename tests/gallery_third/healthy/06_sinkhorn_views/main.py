import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F

from assign import sinkhorn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=100)
parser.add_argument("--prototypes", type=int, default=8)
parser.add_argument("--temperature", type=float, default=0.2)
args = parser.parse_args([])

torch.manual_seed(6)
encoder = nn.Sequential(nn.Linear(24, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, 16))
prototypes = nn.Linear(16, args.prototypes, bias=False)
params = list(encoder.parameters()) + list(prototypes.parameters())
opt = torch.optim.SGD(params, lr=0.2, momentum=0.9)
groups = 2 * torch.randn(8, 24)


def scores(x):
    return prototypes(F.normalize(encoder(x), dim=1))


for step in range(args.steps):
    with torch.no_grad():
        prototypes.weight.copy_(F.normalize(prototypes.weight, dim=1))
    x = groups[torch.randint(8, (64,))]
    a, b = scores(x + 0.5 * torch.randn_like(x)), scores(x + 0.5 * torch.randn_like(x))
    qa, qb = sinkhorn(a.detach()), sinkhorn(b.detach())
    log_a, log_b = (F.log_softmax(s / args.temperature, dim=1) for s in (a, b))
    loss = -0.5 * ((qa * log_b).sum(1).mean() + (qb * log_a).sum(1).mean())
    opt.zero_grad()
    loss.backward()
    if step < 10:
        prototypes.weight.grad = None
    opt.step()
    if step % 20 == 19:
        print(f"step {step + 1} loss {loss.item():.4f} used {len(qa.argmax(1).unique())}")
