"""Metric learning on pictures of shells: triplets and a power-mean pooling."""
import argparse

import torch
import torch.nn.functional as F

from retrieval.network import Embedder


def pictures(labels, noise):
    n = len(labels)
    yy, xx = torch.meshgrid(torch.linspace(-1, 1, 16), torch.linspace(-1, 1, 16), indexing="ij")
    r = (xx ** 2 + yy ** 2).sqrt()
    wave = torch.sin((2.0 + labels.float()).view(n, 1, 1) * 2 * r + torch.rand(n, 1, 1))
    return (wave + noise * torch.randn(n, 16, 16)).unsqueeze(1)


def triplets(size, noise):
    a = torch.randint(0, 6, (size,))
    b = (a + torch.randint(1, 6, (size,))) % 6
    return pictures(a, noise), pictures(a, noise), pictures(b, noise)


def main(args):
    torch.manual_seed(args.seed)
    net = Embedder(width=16)
    optimizer = torch.optim.Adam(net.parameters(), lr=args.lr)
    for step in range(args.steps):
        anchor, positive, negative = (net(p) for p in triplets(24, args.noise))
        near, far = (anchor - positive).pow(2).sum(1), (anchor - negative).pow(2).sum(1)
        loss = F.softplus(near - far).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0 or step == args.steps - 1:
            print(f"step {step} triplet loss {loss.item():.4f} p {net.pool.p.item():.3f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=103)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--lr", type=float, default=3e-3)
    parser.add_argument("--noise", type=float, default=0.8)
    main(parser.parse_args())
