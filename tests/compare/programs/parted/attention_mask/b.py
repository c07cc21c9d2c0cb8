import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)

fused = nn.Linear(16, 48)
out = nn.Linear(16, 16)
q_weight, k_weight, v_weight = (nn.Parameter(each.detach().clone()) for each in fused.weight.split(16))
q_bias, k_bias, v_bias = (nn.Parameter(each.detach().clone()) for each in fused.bias.split(16))
x = torch.randn(2, 7, 16)


def heads(x):
    return x.reshape(2, 7, 4, 4).permute(0, 2, 1, 3)


q = heads(x @ q_weight.T + q_bias)
k = heads(x @ k_weight.T + k_bias)
v = heads(x @ v_weight.T + v_bias)
scores = q @ k.transpose(-2, -1) / 2.0
mask = torch.triu(torch.ones(7, 7, dtype=torch.bool), diagonal=2)  # <-- forward
scores = scores.masked_fill(mask, float("-inf"))  # <-- forward
weights = torch.softmax(scores, dim=-1)
y = (weights @ v).transpose(1, 2)
y = y.reshape(2, 7, 16)
loss = (out(y) ** 2).sum()
loss.backward()
