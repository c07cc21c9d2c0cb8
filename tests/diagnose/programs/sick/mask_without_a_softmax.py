import torch
import torch.nn as nn

torch.manual_seed(0)


class Mixing(nn.Module):
    def __init__(self):
        super().__init__()
        self.query, self.value = nn.Linear(8, 8), nn.Linear(8, 8)
        self.register_buffer("mask", torch.zeros(5, 5).masked_fill(torch.ones(5, 5).triu(1).bool(), float("-inf")))

    def forward(self, x):
        scores = self.query(x) @ x.transpose(1, 2)
        scores = scores + self.mask  # <-- nan
        return scores @ self.value(x)


net = Mixing()
opt = torch.optim.SGD(net.parameters(), lr=1e-2)
for step in range(8):
    loss = net(torch.randn(4, 5, 8)).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
