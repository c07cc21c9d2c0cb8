import torch


class RunningScaler:
    """Mean and spread of a stream, from sums, so that no pass over the data is needed twice."""

    def __init__(self, columns, eps=1e-9):
        self.n = 0
        self.total = torch.zeros(columns, dtype=torch.float64)
        self.squares = torch.zeros(columns, dtype=torch.float64)
        self.eps = eps

    def update(self, rows):
        self.n += len(rows)
        self.total += rows.sum(0)
        self.squares += (rows * rows).sum(0)

    def transform(self, rows):
        mean = self.total / self.n
        spread = (self.squares / self.n - mean * mean).clamp(min=self.eps).sqrt()
        return (rows - mean) / spread
