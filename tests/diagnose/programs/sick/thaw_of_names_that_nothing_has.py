import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv1d(1, 8, 3, padding=1), nn.ReLU(), nn.Conv1d(8, 8, 3, padding=1), nn.ReLU()
        )
        self.fc = nn.Linear(8, 3)

    def forward(self, x):
        return self.fc(self.features(x).mean(-1))


torch.manual_seed(1)
model = Net()
for p in model.features.parameters():
    p.requires_grad_(False)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
x = torch.randn(128, 1, 20)
y = torch.randint(0, 3, (128,))


def unfreeze(model, layers):
    for name, param in model.named_parameters():
        if any(name.startswith(layer + ".weight") for layer in layers):
            param.requires_grad = True


for step in range(30):
    if step == 10:
        unfreeze(model, ["conv1", "conv2"])  # <-- frozen
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
