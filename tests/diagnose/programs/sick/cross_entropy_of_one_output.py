import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
crit = nn.CrossEntropyLoss()  # <-- softmax_axis
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(30):
    x = torch.randn(32, 8)
    y = (x[:, :1] > 0).float()
    loss = crit(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
