"""Ten stroke patterns, a small convolutional net, the standard recipe."""
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super(Net, self).__init__()
        self.conv1 = nn.Conv2d(1, 8, 3, padding=1)
        self.pool = nn.MaxPool2d(2, 2)
        self.conv2 = nn.Conv2d(8, 16, 3, padding=1)
        self.fc1 = nn.Linear(16 * 3 * 3, 48)
        self.fc2 = nn.Linear(48, 10)

    def forward(self, x):
        x = self.pool(F.relu(self.conv1(x)))
        x = self.pool(F.relu(self.conv2(x)))
        x = torch.flatten(x, 1)
        x = F.relu(self.fc1(x))
        x = self.fc2(x)
        return x


def strokes(n, seed):
    g = torch.Generator().manual_seed(5)
    patterns = (torch.rand(10, 1, 12, 12, generator=g) > 0.75).float()
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(0, 10, (n,), generator=g)
    return patterns[y] + 0.4 * torch.randn(n, 1, 12, 12, generator=g), y


torch.manual_seed(0)
trainloader = DataLoader(TensorDataset(*strokes(640, 1)), batch_size=32, shuffle=True)
testloader = DataLoader(TensorDataset(*strokes(300, 2)), batch_size=100)

net = Net()
criterion = nn.CrossEntropyLoss()
optimizer = optim.SGD(net.parameters(), lr=0.03, momentum=0.9)

for epoch in range(6):
    running_loss = 0.0
    for i, (inputs, labels) in enumerate(trainloader, 1):
        optimizer.zero_grad()
        outputs = net(inputs)
        loss = criterion(outputs, labels)
        loss.backward()
        optimizer.step()
        running_loss += loss.item()
    print("[%d] loss: %.3f" % (epoch + 1, running_loss / i))

correct = total = 0
with torch.no_grad():
    net.eval()
    for images, labels in testloader:
        predicted = net(images).argmax(1)
        total += labels.size(0)
        correct += (predicted == labels).sum().item()
print("Accuracy on the test images: %d %%" % (100 * correct / total))
