import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 24), nn.ReLU(), nn.Linear(24, 1))
sgd = torch.optim.SGD(net.parameters(), lr=1e-7)  # <-- update_ratio
X = torch.randn(200, 6)
Y = X[:, :1] * 2
for step in range(50):
    rows = torch.randint(0, 200, (32,))
    sgd.zero_grad()
    nn.functional.mse_loss(net(X[rows]), Y[rows]).backward()
    sgd.step()
