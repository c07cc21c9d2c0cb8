import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
net = nn.RNN(4, 32, batch_first=True)
head = nn.Linear(32, 1)
opt = torch.optim.SGD([*net.parameters(), *head.parameters()], lr=0.1)
params = net.parameters()
for i in range(20):
    x = torch.randn(16, 12, 4)
    loss = F.mse_loss(head(net(x)[0][:, -1]), x[:, 0, :1])
    opt.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(params, 1.0)  # <-- clip_order
    opt.step()
