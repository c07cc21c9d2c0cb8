import torch
import torch.nn as nn

torch.manual_seed(0)
trans = nn.Parameter(torch.randn(12, 12) * 0.1)
emit = nn.Linear(16, 12)
opt = torch.optim.SGD([trans, *emit.parameters()], lr=1e-3)
for step in range(5):
    e = emit(torch.randn(64, 9, 16))
    alpha = torch.full((64, 12), float("-inf"))
    alpha[:, 0] = 0.0
    for t in range(9):
        alpha = torch.logsumexp(alpha[:, :, None] + trans, 1) + e[:, t]
    loss = torch.logsumexp(alpha, 1).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
