import copy

import torch


class BestKeeper:
    """Evaluates and keeps the best weights."""

    def __init__(self, model, batches):
        self.model, self.batches = model, batches
        self.best, self.weights = float("inf"), None

    def __call__(self):
        self.model.eval()
        with torch.no_grad():
            losses = [torch.nn.functional.cross_entropy(self.model(x), y).item() for x, y in self.batches]
        now = sum(losses) / len(losses)
        if now > self.best:
            return now
        self.best = now
        self.weights = copy.deepcopy(self.model.state_dict())
        self.model.train()
        return now
