import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 4))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
crit = nn.NLLLoss()  # <-- missing_log
for step in range(40):
    x = torch.randn(32, 8)
    loss = crit(net(x), x[:, :4].argmax(1))
    opt.zero_grad()
    loss.backward()
    opt.step()
