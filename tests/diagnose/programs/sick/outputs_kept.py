import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
preds = []
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(30):
    x = torch.randn(16, 8)
    y = torch.randint(0, 3, (16,))
    out = net(x)
    preds.append(out.softmax(-1))  # <-- graph_kept
    loss = F.cross_entropy(out, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
