"""An encoder and a decoder with attention, teacher forcing in training, a beam in evaluation."""

import random
import torch
import torch.nn as nn
import torch.nn.functional as F

V, BOS = 12, 0


class Seq2Seq(nn.Module):
    def __init__(self, d=24):
        super().__init__()
        self.emb, self.enc = nn.Embedding(V, d), nn.GRU(d, d, batch_first=True)
        self.cell, self.att, self.out = nn.GRUCell(2 * d, d), nn.Linear(d, d), nn.Linear(d, V)

    def step(self, tok, h, mem):
        score = (mem @ self.att(h)[:, :, None]).softmax(1)
        h = self.cell(torch.cat([self.emb(tok), (mem * score).sum(1)], 1), h)
        return self.out(h), h

    def forward(self, x, y, ratio=0.5):
        mem, h = self.enc(self.emb(x))
        h, tok, outs = h[0], torch.full((len(x),), BOS), []
        for t in range(y.shape[1]):
            o, h = self.step(tok, h, mem)
            outs.append(o)
            tok = y[:, t] if random.random() < ratio else o.argmax(-1)
        return torch.stack(outs, 1)

    @torch.no_grad()
    def beam(self, x, n, k=3):
        mem, h = self.enc(self.emb(x))
        beams = [(0.0, [BOS], h[0])]
        for _ in range(n):
            new = []
            for s, toks, h in beams:
                o, h2 = self.step(torch.tensor([toks[-1]]), h, mem)
                lp, idx = o.log_softmax(-1)[0].topk(k)
                new += [(s + a.item(), [*toks, b.item()], h2) for a, b in zip(lp, idx)]
            beams = sorted(new, key=lambda b: -b[0])[:k]
        return beams[0][1][1:]


random.seed(0)
net = Seq2Seq()
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
for step in range(20):
    x = torch.randint(1, V, (16, 6))
    y = x.flip(1)
    loss = F.cross_entropy(net(x, y).flatten(0, 1), y.flatten())
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    opt.step()
    if step % 10 == 9:
        net.eval()
        x = torch.randint(1, V, (1, 6))
        right = sum(a == b for a, b in zip(net.beam(x, 6), x.flip(1)[0].tolist()))
        net.train()
