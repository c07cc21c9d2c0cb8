import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(41)
lower, upper, head = nn.GRUCell(4, 6), nn.GRUCell(6, 6), nn.Linear(6, 1)
parameters = [*lower.parameters(), *upper.parameters(), *head.parameters()]
signal = torch.randn(9, 2, 4)


def moved(cell: nn.GRUCell, inputs: torch.Tensor, state: torch.Tensor) -> torch.Tensor:
    ours = F.linear(inputs, cell.weight_ih, cell.bias_ih).chunk(3, 1)
    its = F.linear(state, cell.weight_hh, cell.bias_hh).chunk(3, 1)
    reset, update = torch.sigmoid(ours[0] + its[0]), torch.sigmoid(ours[1] + its[1])
    new = torch.tanh(ours[2] + reset * its[2])
    return new + update * (state - new)


first, second = torch.zeros(2, 6), torch.zeros(2, 6)
for begin in range(0, 9, 3):
    second = second.detach()  # <-- backward detached
    predicted = []
    for moment in range(begin, begin + 3):
        first = moved(lower, signal[moment], first)
        second = moved(upper, first, second)
        predicted.append(head(second))
    wanted = signal[begin : begin + 3].sum(-1, keepdim=True)
    loss = (torch.stack(predicted) - wanted).square().mean((1, 2)).sum()
    for each in parameters:
        each.grad = None
    loss.backward(retain_graph=True)
    for each in parameters:
        each.data = each.data - 0.05 * each.grad
