import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)

embedding = nn.Embedding(11, 8)
head = nn.Linear(8, 11, bias=False)
head.weight = embedding.weight
tokens = torch.randint(0, 11, (4, 5))
h = torch.tanh(embedding(tokens))
logits = head(h)  # <-- backward untied
loss = F.cross_entropy(logits.view(-1, 11), tokens.view(-1))
loss.backward()
