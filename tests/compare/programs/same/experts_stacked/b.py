import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(3)
gate = nn.Linear(8, 4)
experts = nn.ModuleList([nn.Sequential(nn.Linear(8, 12), nn.GELU(), nn.Linear(12, 8)) for _ in range(4)])
head = nn.Linear(8, 3)

w1 = nn.Parameter(torch.stack([e[0].weight.T for e in experts]).detach())
b1 = nn.Parameter(torch.stack([e[0].bias for e in experts]).detach())
w2 = nn.Parameter(torch.stack([e[2].weight.T for e in experts]).detach())
b2 = nn.Parameter(torch.stack([e[2].bias for e in experts]).detach())
torch.manual_seed(5)
x, y = torch.randn(32, 8), torch.randint(3, (32,))
probabilities = gate(x).softmax(-1)
weights, chosen = probabilities.topk(2, -1)
weights = weights / weights.sum(-1, keepdim=True)
full = torch.zeros_like(probabilities).scatter(1, chosen, weights)
hidden = F.gelu(torch.einsum("nd,edh->enh", x, w1) + b1[:, None])
each = torch.bmm(hidden, w2) + b2[:, None]
out = (each * full.T[..., None]).sum(0)
logits = head(x + out)
loss = (logits.logsumexp(-1) - logits.gather(1, y[:, None])[:, 0]).mean()
loss.backward()
