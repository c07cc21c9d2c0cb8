import torch
from torch import nn

from memory import StreamRNN

torch.manual_seed(18)
gen = torch.Generator().manual_seed(18)
STREAMS, CHUNK = 16, 12
pulse = (torch.rand(STREAMS, CHUNK * 90, 1, generator=gen) < 0.15).float()
level, target = torch.zeros(STREAMS), []
for t in range(pulse.shape[1]):
    level = 0.8 * level + pulse[:, t, 0]
    target.append(level)
target = torch.stack(target, 1)

net = StreamRNN(1, 24, STREAMS)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for i in range(90):
    part = slice(i * CHUNK, (i + 1) * CHUNK)
    loss = nn.functional.mse_loss(net(pulse[:, part]), target[:, part])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if i % 15 == 14:
        print(f"chunk {i + 1} mse {loss.item():.5f}")
