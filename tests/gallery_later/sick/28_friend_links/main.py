"""Who will become friends: a graph encoder and an inner-product decoder."""
from dataclasses import dataclass

import torch

from links.graph import community_graph, negative_edges
from links.losses import link_loss
from links.model import LinkPredictor


@dataclass(frozen=True)
class Setup:
    people: int = 120
    columns: int = 12
    width: int = 24
    lr: float = 2e-2
    steps: int = 70


def main(setup=Setup()):
    torch.manual_seed(128)
    adjacency, x, edges = community_graph(setup.people, setup.columns)
    model = LinkPredictor(setup.columns, setup.width)
    opt = torch.optim.Adam(model.parameters(), lr=setup.lr)
    for step in range(setup.steps):
        strangers = negative_edges(adjacency, edges.shape[1])
        loss, gap = link_loss(model, adjacency, x, edges, strangers)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 10 == 9:
            print(f"{step + 1} loss {loss.item():.4f} gap {gap:.3f}")


main()
