import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(3)
qkv, proj, head = nn.Linear(32, 96), nn.Linear(32, 32), nn.Linear(32, 7)
torch.manual_seed(5)
x, y = torch.randn(4, 9, 32), torch.randint(7, (4,))
with torch.autocast("cpu", torch.bfloat16):
    q, k, v = (t.view(4, 9, 4, 8).transpose(1, 2) for t in qkv(x).chunk(3, -1))
    h = proj(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(4, 9, 32))
    logits = head(h.mean(1))
loss = F.cross_entropy(logits.float(), y)
loss.backward()
