"""A recurrence whose gradients explode on the way back in time."""

import torch, torch.nn as nn

torch.manual_seed(0)


class Cell(nn.Module):
    def __init__(self, n_in, n):
        super().__init__()
        self.w = nn.Linear(n_in, n)
        self.u = nn.Linear(n, n, bias=False)
        nn.init.normal_(self.u.weight, std=0.35)

    def forward(self, x, h):
        return torch.relu(self.w(x) + self.u(h))  # <-- exploding_gradient


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = Cell(4, 32)
        self.out = nn.Linear(32, 1)

    def forward(self, xs):
        h = torch.zeros(xs.shape[0], 32)
        for t in range(xs.shape[1]):
            h = self.cell(xs[:, t], h)
        return self.out(h)


m = Model()
opt = torch.optim.SGD(m.parameters(), lr=1e-4)
X = torch.randn(64, 40, 4)
Y = X.sum((1, 2)).unsqueeze(1)
for step in range(20):
    i = torch.randint(0, 64, (16,))
    opt.zero_grad()
    loss = nn.functional.mse_loss(m(X[i]), Y[i])
    loss.backward()
    opt.step()
