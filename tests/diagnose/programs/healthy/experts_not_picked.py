import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Linear(16, 64)
opt = torch.optim.SGD(net.parameters(), lr=1e-3)
for step in range(6):
    logits = net(torch.randn(64, 16))
    top, where = logits.topk(2, -1)
    gates = torch.full_like(logits, float("-inf")).scatter(1, where, top).softmax(-1)
    loss = (gates * logits).sum(-1).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
