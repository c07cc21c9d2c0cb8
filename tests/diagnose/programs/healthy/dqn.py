import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
import copy

q = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
t = copy.deepcopy(q)
opt = torch.optim.Adam(q.parameters())
for step in range(30):
    s, s2 = torch.randn(16, 4), torch.randn(16, 4)
    a = torch.randint(0, 2, (16, 1))
    r = torch.randn(16)
    y = r + 0.9 * t(s2).max(1).values.detach()
    loss = F.smooth_l1_loss(q(s).gather(1, a).squeeze(1), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 10 == 0:
        t.load_state_dict(q.state_dict())
