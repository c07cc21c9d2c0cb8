"""A small denoising model of sine curves; every block starts as the identity."""
import torch

from denoise.blocks import Denoiser
from denoise.noise import Schedule


def curves(n, length=12):
    t = torch.linspace(0, 6.28, length)
    return torch.sin(t + 6.28 * torch.rand(n, 1)).unsqueeze(-1) * 1.4


def main(steps=80):
    torch.manual_seed(203)
    schedule = Schedule(50)
    model = Denoiser(length=12, dim=32, depth=3)
    opt = torch.optim.AdamW(model.parameters(), lr=4e-3, weight_decay=0.01)
    for step in range(steps):
        x = curves(64)
        k = torch.randint(0, schedule.n, (64,))
        noise = torch.randn_like(x)
        predicted = model(schedule.mix(x, noise, k), k / schedule.n)
        loss = (predicted - noise).pow(2).mean()
        opt.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        if step % 20 == 19:
            print(f"step {step + 1} loss {loss.item():.4f}")


main()
