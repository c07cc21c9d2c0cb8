import torch
from torch import nn


class Accumulator(nn.Module):
    def __init__(self, inputs=2, hidden=16):
        super().__init__()
        self.rnn = nn.RNN(inputs, hidden, nonlinearity="relu", bias=False, batch_first=True)
        self.read = nn.Linear(hidden, 1)
        nn.init.eye_(self.rnn.weight_hh_l0)
        nn.init.uniform_(self.rnn.weight_ih_l0, 0.0, 0.2)

    def forward(self, x):
        _, h = self.rnn(x)
        return self.read(h[-1]).squeeze(-1)


class Learner:
    def __init__(self, model, lr, max_norm):
        self.model, self.max_norm = model, max_norm
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr)
        self.criterion = nn.MSELoss()

    def update(self, x, y):
        self.optimizer.zero_grad()
        loss = self.criterion(self.model(x), y)
        nn.utils.clip_grad_norm_(self.model.parameters(), self.max_norm)
        loss.backward()
        self.optimizer.step()
        return loss.item()
