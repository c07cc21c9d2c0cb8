"""Large batches by gradient accumulation, with clipping."""
import argparse

import torch
from torch import nn


def stream(batch):
    while True:
        x = torch.randn(batch, 12)
        yield x, torch.sin(1.5 * x[:, 0]) + 0.8 * x[:, 4]


def main(args):
    torch.manual_seed(args.seed)
    net = nn.Sequential(nn.Linear(12, 64), nn.SiLU(), nn.Linear(64, 64), nn.SiLU(), nn.Linear(64, 1))
    opt = torch.optim.AdamW(net.parameters(), lr=args.lr)
    batches = stream(args.micro)
    opt.zero_grad()
    total = 0.0
    for i in range(args.updates * args.accumulate):
        x, y = next(batches)
        loss = nn.functional.mse_loss(net(x).squeeze(1), y) / args.accumulate
        loss.backward()
        total += loss.item()
        if (i + 1) % args.accumulate == 0:
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            opt.step()
            opt.zero_grad()
            if (i + 1) % (10 * args.accumulate) == 0:
                print(f"update {(i + 1) // args.accumulate} loss {total:.4f}")
            total = 0.0


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--micro", type=int, default=32)
    p.add_argument("--accumulate", type=int, default=4)
    p.add_argument("--updates", type=int, default=50)
    p.add_argument("--lr", type=float, default=1e-2)
    p.add_argument("--seed", type=int, default=0)
    main(p.parse_args())
