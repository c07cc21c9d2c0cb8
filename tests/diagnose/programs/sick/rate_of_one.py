"""Adam with a rate that is a thousand times too large."""

import torch, torch.nn as nn

torch.manual_seed(0)


class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp = nn.Linear(32, 64)
        self.hid = nn.Linear(64, 64)
        self.out = nn.Linear(64, 4)

    def forward(self, x):
        return self.out(torch.relu(self.hid(torch.relu(self.inp(x)))))


model = MLP()

opt = torch.optim.Adam(model.parameters(), lr=1.0)  # <-- update_ratio
X = torch.randn(256, 32)
Y = X[:, :4].argmax(1)
for step in range(30):
    i = torch.randint(0, 256, (32,))
    opt.zero_grad()
    loss = nn.functional.cross_entropy(model(X[i]).float(), Y[i])
    loss.backward()
    opt.step()
