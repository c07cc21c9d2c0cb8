import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(2)
emb = nn.Embedding(20, 16)
ids = torch.randint(0, 20, (2, 9))
opt = torch.optim.Adagrad(emb.parameters(), lr=0.1)
for s in range(3):
    logits = torch.einsum("btd,vd->bvt", emb.weight[ids[:, :-1]].tanh(), emb.weight)
    loss = F.cross_entropy(logits, ids[:, 1:])
    opt.zero_grad()
    loss.backward()
    opt.step()
