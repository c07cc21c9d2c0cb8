import torch
from torch import nn


class Gates(nn.Module):
    def __init__(self, inputs, hidden):
        super().__init__()
        self.x = nn.ModuleList([nn.Linear(inputs, hidden) for _ in range(3)])
        self.h = nn.ModuleList([nn.Linear(hidden, hidden) for _ in range(3)])

    def forward(self, x, h):
        r = torch.sigmoid(self.x[0](x) + self.h[0](h))
        z = torch.sigmoid(self.x[1](x) + self.h[1](h))
        n = torch.tanh(self.x[2](x) + r * self.h[2](h))
        return n + z * (h - n)


torch.manual_seed(3)
gru = nn.GRU(6, 8, batch_first=True)
head = nn.Linear(8, 3)
cell = Gates(6, 8)
with torch.no_grad():
    for gate in range(3):
        part = slice(8 * gate, 8 * gate + 8)
        cell.x[gate].weight.copy_(gru.weight_ih_l0[part])
        cell.x[gate].bias.copy_(gru.bias_ih_l0[part])
        cell.h[gate].weight.copy_(gru.weight_hh_l0[part])
        cell.h[gate].bias.copy_(gru.bias_hh_l0[part])
torch.manual_seed(5)
x, y = torch.randn(16, 5, 6), torch.randint(3, (16,))
h = torch.zeros(16, 8)
for t in range(5):
    h = cell(x[:, t], h)
logits = head(h)
loss = (torch.logsumexp(logits, -1) - logits.gather(1, y[:, None])[:, 0]).mean()
loss.backward()
