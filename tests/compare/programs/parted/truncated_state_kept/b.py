import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(12)
lstm = nn.LSTM(5, 7, batch_first=True)
head = nn.Linear(7, 4)
tokens = torch.randn(3, 12, 5)
labels = torch.randint(0, 4, (3, 12))


def cell(x, h, c):
    gates = x @ lstm.weight_ih_l0.T + lstm.bias_ih_l0 + h @ lstm.weight_hh_l0.T + lstm.bias_hh_l0
    i, f, g, o = gates.chunk(4, 1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c


h = torch.zeros(3, 7)
c = torch.zeros(3, 7)
parameters = [*lstm.parameters(), *head.parameters()]
for piece in range(3):
    h = h.detach()  # <-- backward detached
    outputs = []
    for moment in range(4 * piece, 4 * piece + 4):
        h, c = cell(tokens[:, moment], h, c)
        outputs.append(h)
    logits = head(torch.stack(outputs, 1))
    loss = F.cross_entropy(logits.reshape(-1, 4), labels[:, 4 * piece : 4 * piece + 4].reshape(-1))
    gradients = torch.autograd.grad(loss, parameters, retain_graph=True)
    parameters_before = [p.data.clone() for p in parameters]
    for parameter, gradient in zip(parameters, gradients):
        parameter.data = parameter.data - 0.2 * gradient
