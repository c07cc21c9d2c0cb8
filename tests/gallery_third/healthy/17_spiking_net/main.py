import torch
import torch.nn.functional as F

from spikes import SpikingNet

torch.manual_seed(17)
rate = 0.6 * torch.rand(4, 20)


def events(n, steps=12):
    kind = torch.randint(4, (n,))
    return torch.bernoulli(rate[kind][:, None].expand(-1, steps, -1)), kind


net = SpikingNet(20, 40, 4)
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for i in range(60):
    seq, kind = events(32)
    out = net(seq)
    loss = F.cross_entropy(out, kind)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if i % 10 == 9:
        print(f"{i + 1:3d} loss {loss.item():.3f} acc {(out.argmax(1) == kind).float().mean().item():.2f}")
