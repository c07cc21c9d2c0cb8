import torch
from torch.nn import functional as F

from scenes import SceneNet, scenes
from weighting import UncertaintyWeights


def build():
    net = SceneNet()
    weights = UncertaintyWeights(3)
    optimizer = torch.optim.Adam([*net.parameters(), *weights.parameters()], lr=1e-2)
    return net, weights, optimizer


torch.manual_seed(17)
gen = torch.Generator().manual_seed(18)
net, weights, optimizer = build()

for step in range(1, 71):
    image, edge, depth, kind = scenes(24, gen)
    edge_out, depth_out, kind_out = net(image)
    losses = [
        F.binary_cross_entropy_with_logits(edge_out, edge),
        F.mse_loss(depth_out, depth),
        F.cross_entropy(kind_out, kind),
    ]
    loss = weights(losses)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        print(step, " ".join(f"{l.item():.3f}" for l in losses), weights.log_vars.data.tolist())
