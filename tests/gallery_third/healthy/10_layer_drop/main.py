import torch
from torch.nn.functional import cross_entropy

from net import deep_net

torch.manual_seed(10)
proto = torch.randn(9, 18)


def batch(n):
    y = torch.randint(9, (n,))
    return proto[y] + 0.8 * torch.randn(n, 18), y


model = deep_net(18, 32, 9)
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.01)
valid = batch(300)
for epoch in range(8):
    model.train()
    for _ in range(12):
        x, y = batch(32)
        optimizer.zero_grad()
        loss = cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        out = model(valid[0])
    print(f"epoch {epoch}: train {loss.item():.4f} valid {cross_entropy(out, valid[1]).item():.4f} "
          f"acc {(out.argmax(1) == valid[1]).float().mean():.3f}")
