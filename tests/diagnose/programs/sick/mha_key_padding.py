import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class Enc(nn.Module):
    def __init__(self):
        super().__init__()
        self.att = nn.MultiheadAttention(16, 2, batch_first=True)
        self.head = nn.Linear(16, 3)

    def forward(self, x, pad):
        y, _ = self.att(x, x, x, key_padding_mask=pad)  # <-- nan
        return self.head(y.mean(1))


m = Enc()
opt = torch.optim.Adam(m.parameters())
for step in range(10):
    x = torch.randn(4, 6, 16)
    pad = torch.rand(4, 6) > 0.8
    pad[:, 0] = False
    if step == 5:
        pad[3] = True
    loss = F.cross_entropy(m(x, pad), torch.randint(0, 3, (4,)))
    opt.zero_grad()
    loss.backward()
    opt.step()
