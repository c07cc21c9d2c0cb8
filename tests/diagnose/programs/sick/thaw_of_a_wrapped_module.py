import torch
import torch.nn as nn
import torch.nn.functional as F


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(10, 10) for _ in range(3)])

    def forward(self, x):
        for layer in self.layers:
            x = torch.tanh(layer(x))
        return x


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = Encoder()
        self.out = nn.Linear(10, 4)

    def forward(self, x):
        return self.out(self.encoder(x))


def gradual_unfreeze(model, epoch):
    """Unfreeze one more layer each epoch, from the top."""
    name = f"module.encoder.layers.{2 - epoch}"  # <-- frozen
    for n, p in model.named_parameters():
        if name in n:
            p.requires_grad = True


torch.manual_seed(0)
model = Classifier()
for p in model.encoder.parameters():
    p.requires_grad = False
opt = torch.optim.AdamW(model.parameters(), lr=3e-3)
data = torch.randn(96, 10)
target = torch.randint(0, 4, (96,))
for epoch in range(5):
    if epoch > 0:
        gradual_unfreeze(model, epoch - 1)
    for k in range(0, 96, 32):
        opt.zero_grad()
        loss = F.cross_entropy(model(data[k : k + 32]), target[k : k + 32])
        loss.backward()
        opt.step()
