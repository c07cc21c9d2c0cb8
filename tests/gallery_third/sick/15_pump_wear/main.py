import torch
import torch.nn as nn

from setup_run import setup

STEPS, BATCH, LR = 120, 64, 1.5e-3
setup(99, precision="bfloat16")


class WearNet(nn.Module):
    def __init__(self, sensors, hidden):
        super().__init__()
        self.encoder = nn.Linear(sensors, hidden)
        self.norm = nn.LayerNorm(hidden)
        self.decoder = nn.Linear(hidden, 1)

    def forward(self, x):
        return self.decoder(torch.relu(self.norm(self.encoder(x)))).squeeze(-1)


mix = torch.randn(20)


def batch():
    x = torch.randn(BATCH, 20)
    return x, 3 + x @ mix / 4


net = WearNet(20, 64)
opt = torch.optim.SGD(net.parameters(), lr=LR)
for step in range(STEPS):
    x, wear = batch()
    loss = nn.functional.mse_loss(net(x), wear)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 20 == 0 or step == STEPS - 1:
        print("step", step, "loss", round(loss.item(), 4))
