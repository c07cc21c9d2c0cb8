import torch
from torch import nn
import copy


class LM(nn.Module):
    def __init__(self, V=30, D=16):
        super().__init__()
        self.emb = nn.Embedding(V, D)
        self.rnn = nn.GRU(D, D, batch_first=True)
        self.out = nn.Linear(D, V, bias=False)
        self.tie()

    def tie(self):
        self.out.weight = nn.Parameter(self.emb.weight.clone())  # <-- untied_weights

    def forward(self, x):
        return self.out(self.rnn(self.emb(x))[0])


torch.manual_seed(0)
m = LM()
o = torch.optim.Adam(m.parameters(), 1e-2)
crit = nn.CrossEntropyLoss()
for step in range(20):
    t = torch.randint(0, 30, (8, 7))
    l = crit(m(t[:, :-1]).flatten(0, 1), t[:, 1:].flatten())
    o.zero_grad()
    l.backward()
    o.step()
