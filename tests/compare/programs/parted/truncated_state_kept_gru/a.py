import torch
from torch import nn

torch.manual_seed(41)
lower, upper, head = nn.GRUCell(4, 6), nn.GRUCell(6, 6), nn.Linear(6, 1)
parameters = [*lower.parameters(), *upper.parameters(), *head.parameters()]
signal = torch.randn(9, 2, 4)
states = [torch.zeros(2, 6), torch.zeros(2, 6)]
for piece in signal.split(3):
    states = [each.detach() for each in states]  # <-- backward detached
    loss = torch.zeros(())
    for moment in piece:
        states[0] = lower(moment, states[0])
        states[1] = upper(states[0], states[1])
        loss = loss + (head(states[1]) - moment.sum(1, keepdim=True)).square().mean()
    for each in parameters:
        each.grad = None
    loss.backward(retain_graph=True)
    for each in parameters:
        each.data = each.data - 0.05 * each.grad
