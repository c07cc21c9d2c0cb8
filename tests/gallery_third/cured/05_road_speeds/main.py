"""Speeds at crossings from traffic counts, message passing over the road graph."""
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F

from graph import road_graph, speeds
from layers import Layer


@dataclass
class Config:
    dim: int = 24
    layers: int = 10
    lr: float = 3e-3
    steps: int = 80
    batch: int = 16


class SpeedNet(nn.Module):
    def __init__(self, cfg, adj):
        super().__init__()
        self.register_buffer("adj", adj)
        self.inp = nn.Linear(3, cfg.dim)
        self.layers = nn.ModuleList([Layer(cfg.dim) for _ in range(cfg.layers)])
        self.out = nn.Linear(cfg.dim, 1)

    def forward(self, x):
        h = self.inp(x)
        for layer in self.layers:
            h = layer(h, self.adj)
        return self.out(h).squeeze(-1)


def train(cfg):
    torch.manual_seed(0)
    adj = road_graph()
    flow, y = speeds(adj, 400)
    net = SpeedNet(cfg, adj)
    opt = torch.optim.Adam(net.parameters(), lr=cfg.lr)
    for step in range(cfg.steps):
        pick = torch.randint(len(flow), (cfg.batch,))
        loss = F.mse_loss(net(flow[pick]), y[pick])
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 10 == 9:
            print(f"{step + 1:3d} mse {loss.item():.4g}")


if __name__ == "__main__":
    train(Config())
