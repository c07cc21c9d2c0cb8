import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Linear(5, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
data = [(torch.randn(8, 5), torch.randn(8, 1)) for _ in range(10)]
for epoch in range(4):
    for x, y in data:
        opt.zero_grad()
        loss = nn.functional.mse_loss(net(x), y)
        loss.backward()
    opt.step()  # <-- zero_grad
