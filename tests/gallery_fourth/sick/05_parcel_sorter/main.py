import torch
from torch.nn import functional as F

from memory import ClassMeans
from net import ParcelNet, parcels

torch.manual_seed(5)
gen = torch.Generator().manual_seed(6)
images, kinds = parcels(300, gen)
net, means = ParcelNet(), ClassMeans(5, 16)
optimizer = torch.optim.Adam(net.parameters(), lr=4e-3)
WARMUP = 2

for epoch in range(6):
    for part in torch.randperm(300, generator=gen).split(30):
        z, logits = net(images[part])
        loss = F.cross_entropy(logits, kinds[part])
        if epoch >= WARMUP:
            means.update(z, kinds[part])
            loss = loss + 0.02 * means(z, kinds[part])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
