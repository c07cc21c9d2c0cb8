import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(2)
emb, head = nn.Embedding(11, 8), nn.Linear(8, 11)
ids = torch.randint(1, 11, (3, 7))
ids[1, 5:] = 0
ids[2, 3:] = 0
logits = head(emb(ids[:, :-1]))
loss = F.cross_entropy(logits.reshape(-1, 11), ids[:, 1:].reshape(-1), ignore_index=0)  # <-- forward
loss.backward()
