import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from sam import SAM

torch.manual_seed(2)
proto = torch.randn(7, 20)
label = torch.randint(7, (512,))
data = TensorDataset(proto[label] + torch.randn(512, 20), label)
net = nn.Sequential(nn.Linear(20, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, 7))
optimizer = SAM(net.parameters(), torch.optim.SGD, rho=0.05, lr=0.05, momentum=0.9)
criterion = nn.CrossEntropyLoss(label_smoothing=0.05)
for epoch in range(3):
    for x, y in DataLoader(data, batch_size=32, shuffle=True):
        criterion(net(x), y).backward()
        optimizer.climb()
        loss = criterion(net(x), y)
        loss.backward()
        optimizer.descend()
    print("epoch", epoch, "loss after the climb", round(loss.item(), 4))
