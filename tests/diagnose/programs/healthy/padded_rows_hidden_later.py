import torch
import torch.nn as nn

torch.manual_seed(0)
q = nn.Linear(32, 32)
opt = torch.optim.SGD(q.parameters(), lr=1e-3)
for step in range(6):
    x = torch.randn(8, 12, 32)
    lengths = torch.tensor([0, 3, 5, 12, 12, 7, 1, 9])
    pad = torch.arange(12)[None] >= lengths[:, None]
    scores = (q(x) @ x.transpose(1, 2)).masked_fill(pad[:, None, :], float("-inf"))
    attn = torch.softmax(scores, -1).masked_fill((lengths == 0)[:, None, None], 0.0)
    loss = (attn @ x).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
