import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**24)
for step in range(30):
    x = torch.randn(16, 8)
    y = x.sum(1, keepdim=True)
    opt.zero_grad()
    with torch.autocast("cpu", dtype=torch.float16):
        out = net(x)
    loss = F.mse_loss(out, y.half())
    scaler.scale(loss).backward()
    scaler.unscale_(opt)
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    scaler.step(opt)
    scaler.update()
