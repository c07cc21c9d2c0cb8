import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
net = nn.Linear(16, 10)
opt = torch.optim.SGD(net.parameters(), lr=1e-3)
for step in range(5):
    logp = net(torch.randn(12, 4, 16)).log_softmax(-1)
    targets = torch.randint(1, 10, (4, 15))
    loss = F.ctc_loss(logp, targets, torch.full((4,), 12), torch.tensor([5, 6, 15, 4]), zero_infinity=True)
    opt.zero_grad()
    loss.backward()
    opt.step()
