import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)


class Body(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Linear(12, 24), nn.ReLU())
        self.post = nn.LayerNorm(24)

    def forward(self, x):
        return self.post(self.stem(x))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = Body()
        self.classifier = nn.Linear(24, 5)

    def forward(self, x):
        return self.classifier(self.body(x))


model = Model()
inputs = torch.randn(16, 12)
labels = torch.randint(0, 5, (16,))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
criterion = nn.CrossEntropyLoss()
for _ in range(2):
    optimizer.zero_grad()
    loss = criterion(model(inputs), labels)
    loss.backward()
    optimizer.step()
