"""An error in backward: what exp saved for its rule was written in place."""

import torch

x = torch.ones(3, requires_grad=True)
y = x.exp()
y += 1
y.sum().backward()
