import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class LM(nn.Module):
    def __init__(self, v=30, d=16):
        super().__init__()
        self.e = nn.Embedding(v, d)
        self.q = nn.Linear(d, 3 * d)
        self.o = nn.Linear(d, v)
        self.register_buffer("mask", torch.full((8, 8), float("-inf")).triu(1))

    def forward(self, t):
        x = self.e(t)
        q, k, v = self.q(x).chunk(3, -1)
        a = q @ k.transpose(-2, -1) / 4 + self.mask
        return self.o(a.softmax(-1) @ v + x)


m = LM()
opt = torch.optim.AdamW(m.parameters(), lr=1e-2)
sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1.0, s / 10))
data = torch.randint(0, 30, (64, 9))
for step in range(25):
    b = data[torch.randint(0, 64, (8,))]
    loss = F.cross_entropy(m(b[:, :-1]).flatten(0, 1), b[:, 1:].flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()
    sched.step()
    if step % 10 == 0:
        m.eval()
        with torch.no_grad():
            logits = m(b[:, :-1])[:, -1]
            v, _ = logits.topk(5)
            logits[logits < v[:, [-1]]] = -float("inf")
            nxt = torch.multinomial(logits.softmax(-1), 1)
        m.train()
