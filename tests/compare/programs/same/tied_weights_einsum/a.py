import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(2)
emb = nn.Embedding(20, 16)
ids = torch.randint(0, 20, (2, 9))
opt = torch.optim.Adagrad(emb.parameters(), lr=0.1)
for s in range(3):
    logits = F.linear(torch.tanh(emb(ids[:, :-1])), emb.weight)
    loss = F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()
