import torch
from torch import nn
from torch.optim.lr_scheduler import ReduceLROnPlateau

import lit


class LoadModel(lit.Module):
    def __init__(self, hours=24, hidden=32, lr=4e-3):
        super().__init__()
        self.lr = lr
        self.rnn = nn.LSTM(1, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x):
        h, _ = self.rnn(x)
        return self.out(h[:, -1])

    def training_step(self, batch):
        x, y = batch
        return nn.functional.l1_loss(self(x), y)

    def configure_optimizers(self):
        optimizer = torch.optim.Adam(self.parameters(), lr=self.lr)
        plateau = ReduceLROnPlateau(optimizer, mode="min", factor=0.1, patience=1)
        return {"optimizer": optimizer, "lr_scheduler": plateau}


def load_curves(n):
    t = torch.arange(25.0)
    phase = 24 * torch.rand(n, 1)
    height = 0.5 + torch.rand(n, 1)
    curve = height * torch.sin(2 * torch.pi * (t + phase) / 24) + 0.05 * torch.randn(n, 25)
    return curve[:, :24, None], curve[:, 24:]


if __name__ == "__main__":
    torch.manual_seed(16)
    train = [load_curves(32) for _ in range(6)]
    valid = [load_curves(32) for _ in range(2)]
    lit.Trainer(max_epochs=16).fit(LoadModel(), train, valid)
