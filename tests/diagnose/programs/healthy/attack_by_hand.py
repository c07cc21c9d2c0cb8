"""A perturbation goes up the gradient of a loss, by hand, as long as it takes."""

import torch

torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 2))
net.requires_grad_(False)
x = torch.randn(32, 8)
labels = net(x).argmax(1)
perturbation = (torch.randn(32, 8) * 1e-3).requires_grad_()
for _ in range(30):
    loss = torch.nn.functional.cross_entropy(20 * net(x + perturbation), labels)
    loss.backward()
    with torch.no_grad():
        perturbation += 0.05 * perturbation.grad.sign()
        perturbation.grad = None
