import torch
from torch import nn

torch.manual_seed(2)
mha = nn.MultiheadAttention(16, 2, batch_first=True)
x, m = torch.randn(2, 5, 16), torch.randn(2, 9, 16)
pad = torch.zeros(2, 9, dtype=torch.bool)
pad[1, 6:] = True
y, _ = mha(x, m, m, key_padding_mask=pad)  # <-- forward
loss = y.square().mean()
loss.backward()
