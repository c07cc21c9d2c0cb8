"""The first steps of a longer run on parity of bits: nothing has been learned yet."""
import torch
from torch import nn


class Parity(nn.Module):
    def __init__(self, bits=10, width=64):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(bits, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.out = nn.Linear(width, 2)

    def forward(self, x):
        return self.out(self.body(x))


def strings(n, bits=10):
    b = torch.randint(0, 2, (n, bits))
    return 2.0 * b - 1.0, b[:, :6].sum(1) % 2


def main(total_steps=4000, stop_after=24):
    torch.manual_seed(223)
    net = Parity()
    opt = torch.optim.AdamW(net.parameters(), lr=1e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(opt, total_steps)
    for step in range(1, total_steps + 1):
        x, y = strings(64)
        loss = nn.functional.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        schedule.step()
        if step % 6 == 0:
            print(f"step {step}/{total_steps} loss {loss.item():.4f}")
        if step == stop_after:
            print("stopped for a look")
            break


main()
