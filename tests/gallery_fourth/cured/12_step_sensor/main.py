import torch
from torch import nn

from network import ActivityNet
from wearable import recordings

torch.manual_seed(0)
gen = torch.Generator().manual_seed(9)
model = ActivityNet()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)

for step in range(1, 81):
    x, y = recordings(40, gen)
    scores = model(x)
    loss = criterion(scores, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        print(f"step {step} loss {loss.item():.3f} accuracy {(scores.argmax(1) == y).float().mean():.2f}")
