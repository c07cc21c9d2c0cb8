import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)

mha = nn.MultiheadAttention(8, 2, batch_first=True)
x = torch.randn(2, 5, 8)
padding = torch.tensor([[0, 0, 0, 0, 1], [0, 0, 0, 1, 1]], dtype=torch.bool)
q, k, v = F.linear(x, mha.in_proj_weight, mha.in_proj_bias).split(8, -1)
q, k, v = (each.reshape(2, 5, 2, 4).permute(0, 2, 1, 3) for each in (q, k, v))
bias = torch.zeros(2, 1, 1, 5).masked_fill(padding[:, None, None], float("-inf"))
out = F.scaled_dot_product_attention(q, k, v, attn_mask=bias)
out = out.permute(0, 2, 1, 3).reshape(2, 5, 8) @ mha.out_proj.weight.T + mha.out_proj.bias
loss = out[~padding].square().mean()
loss.backward()
