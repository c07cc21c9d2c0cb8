import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
net = nn.Sequential(
    nn.Conv2d(1, 8, 3, padding=1),
    nn.BatchNorm2d(8),
    nn.ReLU(),
    nn.MaxPool2d(2),
    nn.Conv2d(8, 16, 3),
    nn.ReLU(),
    nn.AdaptiveAvgPool2d(1),
    nn.Flatten(),
    nn.Dropout(0.2),
    nn.Linear(16, 4),
)
opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
s = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 20)
for step in range(20):
    net.train()
    loss = F.cross_entropy(net(torch.randn(16, 1, 12, 12)), torch.randint(0, 4, (16,)))
    opt.zero_grad()
    loss.backward()
    opt.step()
    s.step()
    if step % 5 == 4:
        net.eval()
        with torch.no_grad():
            net(torch.randn(4, 1, 12, 12)).argmax(1)
