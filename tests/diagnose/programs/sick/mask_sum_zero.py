import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


def masked_mean(h, lengths):
    mask = (torch.arange(h.size(1))[None] < lengths[:, None]).float()
    return (h * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)  # <-- nan


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(50, 16)
        self.rnn = nn.GRU(16, 16, batch_first=True)
        self.head = nn.Linear(16, 2)

    def forward(self, t, n):
        h, _ = self.rnn(self.emb(t))
        return self.head(masked_mean(h, n))


m = Encoder()
opt = torch.optim.Adam(m.parameters())
for step in range(15):
    t = torch.randint(0, 50, (4, 7))
    n = torch.randint(1, 8, (4,))
    if step == 9:
        n[2] = 0
    loss = F.cross_entropy(m(t, n), torch.randint(0, 2, (4,)))
    opt.zero_grad()
    loss.backward()
    opt.step()
