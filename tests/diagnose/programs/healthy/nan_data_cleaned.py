import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
data = torch.randn(64, 4)
data[::7, 1] = float("nan")
mean = data.nanmean(0)
net = nn.Linear(8, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for b in data.split(8):
    miss = torch.isnan(b)
    x = torch.cat([torch.where(miss, mean, b), miss.float()], 1)
    loss = F.mse_loss(net(x), torch.nan_to_num(b).sum(1, keepdim=True))
    opt.zero_grad()
    loss.backward()
    opt.step()
