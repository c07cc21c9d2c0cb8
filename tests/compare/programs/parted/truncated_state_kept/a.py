import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(12)
lstm = nn.LSTM(5, 7, batch_first=True)
head = nn.Linear(7, 4)
optimizer = torch.optim.SGD([*lstm.parameters(), *head.parameters()], lr=0.2)
tokens = torch.randn(3, 12, 5)
labels = torch.randint(0, 4, (3, 12))
state = None
for piece in range(3):
    if state is not None:
        h, c = state
        state = h.detach(), c.detach()  # <-- backward detached
    here = slice(4 * piece, 4 * piece + 4)
    outputs, state = lstm(tokens[:, here], state)
    loss = F.cross_entropy(head(outputs).flatten(0, 1), labels[:, here].flatten())
    optimizer.zero_grad()
    loss.backward(retain_graph=True)
    optimizer.step()
