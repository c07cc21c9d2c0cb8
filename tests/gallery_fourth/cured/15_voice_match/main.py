import torch

from losses import contrastive
from speakers import SpeakerNet, Voices

torch.manual_seed(6)
voices = Voices(8, torch.Generator().manual_seed(1))
net = SpeakerNet()
optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)

for step in range(60):
    left, right, same = voices.pairs(48)
    loss = contrastive(net(left), net(right), same)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 9:
        print(f"step {step + 1}: {loss.item():.4f}")
