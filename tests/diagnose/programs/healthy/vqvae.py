import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class VQ(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Linear(8, 4)
        self.code = nn.Embedding(16, 4)
        self.dec = nn.Linear(4, 8)

    def forward(self, x):
        z = self.enc(x)
        i = torch.cdist(z, self.code.weight).argmin(1)
        q = self.code(i)
        loss = F.mse_loss(q, z.detach()) + 0.25 * F.mse_loss(z, q.detach())
        q = z + (q - z).detach()
        return self.dec(q), loss


m = VQ()
opt = torch.optim.Adam(m.parameters(), lr=1e-2)
for step in range(20):
    x = torch.randn(16, 8)
    r, l = m(x)
    loss = F.mse_loss(r, x) + l
    opt.zero_grad()
    loss.backward()
    opt.step()
