import torch
from torch import nn
from torch.nn import functional as F


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(8, 16)
        self.head = nn.Linear(16, 3)

    def forward(self, x):
        return self.head(torch.relu(self.body(x)))

    def freeze_body(self):
        self.body.requires_grad_(False)

    def thaw(self, prefix):
        for name, parameter in self.named_parameters():
            if name.startswith(prefix):
                parameter.requires_grad_(True)


torch.manual_seed(0)
model = Classifier()
model.freeze_body()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(12):
    if step == 6:
        model.thaw("encoder")  # <-- frozen
    x = torch.randn(16, 8)
    optimizer.zero_grad()
    F.cross_entropy(model(x), x[:, :3].argmax(1)).backward()
    optimizer.step()
