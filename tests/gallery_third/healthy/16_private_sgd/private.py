import torch
from torch.func import functional_call, grad, vmap


class PrivateSGD:
    """Gradient of every sample clipped on its own, summed, noise added."""

    def __init__(self, model, loss_fn, lr, clip=1.0, noise=0.5, generator=None):
        self.model, self.lr, self.clip, self.noise, self.g = model, lr, clip, noise, generator

        def one(params, x, y):
            return loss_fn(functional_call(model, params, (x[None],)), y[None])

        self.each = vmap(grad(one), in_dims=(None, 0, 0))

    def step(self, x, y):
        params = {k: p.detach() for k, p in self.model.named_parameters()}
        grads = self.each(params, x, y)
        norms = torch.stack([g.flatten(1).norm(dim=1) for g in grads.values()]).norm(dim=0)
        scale = (self.clip / (norms + 1e-6)).clamp(max=1.0)
        with torch.no_grad():
            for k, p in self.model.named_parameters():
                total = torch.einsum("n,n...->...", scale, grads[k])
                total += self.noise * self.clip * torch.randn(total.shape, generator=self.g)
                p -= self.lr * total / len(x)
        return (scale < 1).float().mean().item()
