"""Gradients are clipped when the optimizer has used them."""

import torch
from torch import nn

model = nn.LSTM(4, 8, batch_first=True)
head = nn.Linear(8, 4)
parameters = [*model.parameters(), *head.parameters()]
optimizer = torch.optim.SGD(parameters, lr=0.1)
for _ in range(12):
    x = torch.randn(3, 7, 4)
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(head(model(x)[0])[:, :-1], x[:, 1:])
    loss.backward()
    optimizer.step()
    nn.utils.clip_grad_norm_(parameters, 0.5)  # <-- clip_order
