"""After the first evaluation nobody switches dropout on again."""

import torch
from torch import nn


class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.05)

    def step(self, x, y):
        loss = nn.functional.mse_loss(self.model(x), y)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

    @torch.no_grad()
    def evaluate(self, x, y):
        self.model.eval()  # <-- train_eval_mode
        return nn.functional.mse_loss(self.model(x), y).item()


model = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, 1))
trainer = Trainer(model)
for step in range(20):
    x = torch.randn(16, 5)
    trainer.step(x, x.mean(1, keepdim=True))
    if step % 5 == 4:
        x = torch.randn(16, 5)
        trainer.evaluate(x, x.mean(1, keepdim=True))
