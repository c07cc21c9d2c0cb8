import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
net = nn.Linear(20, 5)
nn.init.zeros_(net.weight)
nn.init.zeros_(net.bias)
opt = torch.optim.SGD(net.parameters(), lr=30.0, momentum=0.9)  # <-- update_ratio
x, y = torch.randn(256, 20), torch.randint(0, 5, (256,))
for step in range(40):
    loss = F.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
