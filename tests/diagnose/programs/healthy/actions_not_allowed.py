import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Linear(16, 64)
opt = torch.optim.SGD(net.parameters(), lr=1e-3)
for step in range(6):
    logits = net(torch.randn(64, 16))
    logits = torch.where(torch.rand(64, 64) < 0.3, torch.full_like(logits, float("-inf")), logits)
    d = torch.distributions.Categorical(logits=logits)
    a = d.sample()
    loss = -(d.log_prob(a) * torch.randn(64)).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
