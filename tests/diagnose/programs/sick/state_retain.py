import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class Cell(nn.Module):
    def __init__(self):
        super().__init__()
        self.i = nn.Linear(4, 8)
        self.h = nn.Linear(8, 8)
        self.o = nn.Linear(8, 1)

    def forward(self, x, h):
        h = torch.tanh(self.i(x) + self.h(h))
        return self.o(h), h


cell = Cell()
opt = torch.optim.SGD(cell.parameters(), lr=0.0)
h = torch.zeros(8, 8)
for t in range(20):
    y, h = cell(torch.randn(8, 4), h)  # <-- state_not_detached
    loss = y.pow(2).mean()
    opt.zero_grad()
    loss.backward(retain_graph=True)
