"""Two views of a signal, an online and a slowly moving target network."""
import torch

from ssl_kit.byol import Byol
from ssl_kit.views import sample, views


def spread(encoder):
    """One over the root of the width for features in all directions, 0 for a collapse."""
    with torch.no_grad():
        z = encoder(sample(300)[0])
    return torch.nn.functional.normalize(z, dim=1).std(0).mean().item()


torch.manual_seed(113)
byol = Byol(columns=24, width=48, out=12)
opt = torch.optim.Adam([p for p in byol.parameters() if p.requires_grad], lr=3e-3)
print(f"spread {spread(byol.online):.3f}")
for step in range(1, 81):
    x, _ = sample(64)
    loss = byol.loss(*views(x))
    opt.zero_grad()
    loss.backward()
    opt.step()
    byol.follow()
    if step % 20 == 0:
        print(f"step {step} loss {loss.item():.4f} spread {spread(byol.online):.3f}")
