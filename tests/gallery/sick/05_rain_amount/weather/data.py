import torch


class StationDays:
    def __init__(self, n):
        self.x = torch.randn(n, 6)
        signal = self.x[:, 0] + 0.5 * self.x[:, 1]
        amount = torch.exp(0.6 * signal + 0.2 * torch.randn(n))
        self.y = torch.where(signal > 0, amount, torch.zeros(n))

    def batches(self, size):
        order = torch.randperm(len(self.y))
        for part in order.split(size):
            yield self.x[part], self.y[part]
