import torch
from torch import nn

torch.manual_seed(2)
emb, head = nn.Embedding(11, 8), nn.Linear(8, 11)
ids = torch.randint(1, 11, (3, 7))
ids[1, 5:] = 0
ids[2, 3:] = 0
logits = head(emb(ids[:, :-1]))
tgt = ids[:, 1:]
nll = -logits.log_softmax(-1).gather(-1, tgt[..., None])[..., 0]
m = (tgt != 0).float()
loss = ((nll * m).sum(1) / m.sum(1)).mean()  # <-- forward
loss.backward()
