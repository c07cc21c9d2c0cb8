import torch
from torch import nn

from net import Voter

torch.manual_seed(14)
gen = torch.Generator().manual_seed(14)
x = torch.randn(400, 9, generator=gen)
y = (x @ torch.randn(9, 4, generator=gen) + 0.5 * torch.randn(400, 4, generator=gen)).argmax(1)

voter = Voter(9, 4)
criterion = nn.NLLLoss()
optimizer = torch.optim.Adam(voter.parameters(), lr=1e-2)
for epoch in range(8):
    voter.train()
    for part in torch.randperm(320).split(32):
        loss = criterion(voter(x[part]), y[part])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    voter.eval()
    with torch.no_grad():
        shares = voter(x[320:])
    surprise = -shares.gather(1, y[320:, None]).clamp(min=1e-6).log().mean()
    print(f"epoch {epoch} train {loss.item():.3f} test {surprise.item():.3f} shares {shares.mean(0).tolist()}")
