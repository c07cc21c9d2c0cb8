import torch
from torch import nn
from torch.utils.data import DataLoader

from signs import Signs


class SignNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 8, 3, padding=1)
        self.conv2 = nn.Conv2d(8, 16, 3, padding=1)
        self.fc1 = nn.Linear(16 * 4 * 4, 32)
        self.fc2 = nn.Linear(32, 4)
        self.pool = nn.MaxPool2d(2)

    def forward(self, x):
        x = self.pool(torch.relu(self.conv1(x)))
        x = self.pool(torch.relu(self.conv2(x)))
        x = torch.relu(self.fc1(x.flatten(1)))
        return self.fc2(x)


torch.manual_seed(0)
loader = DataLoader(Signs(320, 1), batch_size=32, shuffle=True)
net = SignNet()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(net.parameters(), lr=0.03, momentum=0.9)

for epoch in range(10):
    right = 0
    for pictures, shapes in loader:
        optimizer.zero_grad()
        out = net(pictures)
        loss = criterion(out, shapes)
        loss.backward()
        optimizer.step()
        right += (out.argmax(1) == shapes).sum().item()
    print(f"[{epoch + 1}] loss {loss.item():.3f} accuracy {right / 320:.3f}")
