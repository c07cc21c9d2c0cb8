"""A convolutional VAE of bars; the weight of the KL term is zero at first and rises in cycles."""
import torch

from vae.model import VAE, elbo_parts


def bars(n, size=8):
    x = torch.zeros(n, 1, size, size)
    for i, k in enumerate(torch.randint(0, size, (n,)).tolist()):
        x[i, 0, k:k + 3] = 1
    return (x + 0.1 * torch.randn_like(x)).clamp(0, 1)


def beta(step, period=40, top=0.1):
    return top * min(1.0, max(0.0, (step % period - 10) / 15))


torch.manual_seed(233)
model = VAE()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(80):
    x = bars(48)
    recon, kl = elbo_parts(model, x)
    loss = recon + beta(step) * kl
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 9:
        print(f"step {step + 1} recon {recon.item():.3f} kl {kl.item():.3f} beta {beta(step):.3f}")
