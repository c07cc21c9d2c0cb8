import torch
from torch import nn
from torch.optim.swa_utils import SWALR, AveragedModel, update_bn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(24)
gen = torch.Generator().manual_seed(24)
prototypes = torch.randn(4, 3, 16, generator=gen)
y = torch.randint(4, (360,), generator=gen)
x = prototypes[y] + 1.2 * torch.randn(360, 3, 16, generator=gen)
train = DataLoader(TensorDataset(x[:280], y[:280]), batch_size=28, shuffle=True)

net = nn.Sequential(
    nn.Conv1d(3, 16, 3, padding=1, bias=False), nn.BatchNorm1d(16), nn.ReLU(), nn.Flatten(), nn.Linear(256, 4)
)
averaged = AveragedModel(net)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
cosine = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=5)
constant = SWALR(optimizer, swa_lr=0.02, anneal_epochs=1)

for epoch in range(10):
    net.train()
    for a, b in train:
        loss = nn.functional.cross_entropy(net(a), b)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if epoch < 5:
        cosine.step()
    else:
        averaged.update_parameters(net)
        constant.step()
    print(f"epoch {epoch} loss {loss.item():.4f} lr {optimizer.param_groups[0]['lr']:.4f}")
update_bn(train, averaged)
averaged.eval()
with torch.no_grad():
    print("test", (averaged(x[280:]).argmax(1) == y[280:]).float().mean().item())
