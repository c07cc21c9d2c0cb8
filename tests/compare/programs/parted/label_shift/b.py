import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)

emb, fc = nn.Embedding(13, 8), nn.Linear(8, 13)
tokens = torch.randint(0, 13, (3, 9))
logits = fc(torch.tanh(emb(tokens[:, :-1])))
loss = F.cross_entropy(logits.transpose(1, 2), tokens[:, :-1])  # <-- forward
loss.backward()
