"""An autoencoder whose decoder uses the turned weight of its encoder."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.w1 = nn.Parameter(torch.empty(16, 20))
        self.w2 = nn.Parameter(torch.empty(8, 16))
        for w in (self.w1, self.w2):
            nn.init.xavier_uniform_(w)
        self.b1, self.b2 = nn.Parameter(torch.zeros(16)), nn.Parameter(torch.zeros(8))
        self.c1, self.c2 = nn.Parameter(torch.zeros(16)), nn.Parameter(torch.zeros(20))

    def forward(self, x):
        z = F.linear(torch.tanh(F.linear(x, self.w1, self.b1)), self.w2, self.b2)
        return F.linear(torch.tanh(F.linear(z, self.w2.t(), self.c1)), self.w1.t(), self.c2)


net = Tied()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
basis = torch.randn(4, 20)
for _ in range(30):
    x = torch.randn(32, 4) @ basis / 2
    loss = F.mse_loss(net(x + 0.1 * torch.randn_like(x)), x)
    opt.zero_grad()
    loss.backward()
    opt.step()
