import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(2)
c1 = nn.Conv1d(2, 6, 3, dilation=2, padding=4)
x = torch.randn(3, 2, 16)
p = F.pad(x, (4, 0))
taps = [torch.einsum("oi,bit->bot", c1.weight[:, :, j], p[:, :, 2 * j : 2 * j + 16]) for j in range(3)]
y = taps[0] + taps[1] + taps[2] + c1.bias[:, None]
loss = (torch.tanh(y) ** 2).sum()
loss.backward()
