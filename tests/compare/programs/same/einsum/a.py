import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)

w1, w2 = nn.Parameter(torch.randn(6, 4, 5)), nn.Parameter(torch.randn(4, 5, 3))
x = torch.randn(7, 6)
h = torch.einsum("bi,ihd->bhd", x, w1).tanh()
loss = torch.einsum("bhd,hdo->bo", h, w2).square().mean()
loss.backward()
