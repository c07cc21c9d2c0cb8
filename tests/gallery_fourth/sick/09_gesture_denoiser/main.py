import torch
from config import config
from diffusion import Denoiser, Schedule

torch.manual_seed(config.seed)
schedule = Schedule(config.steps)
model = Denoiser(config.width)
optimizer = getattr(torch.optim, config.optimizer)(model.parameters(), lr=config.lr)


def strokes(n):
    angle = torch.rand(n) * 6.2832
    radius = 1.2 + 0.1 * torch.randn(n)
    return torch.stack([radius * angle.cos(), radius * angle.sin()], 1)


for it in range(config.iterations):
    x0 = strokes(config.batch)
    t = torch.randint(schedule.steps, (config.batch,))
    noise = torch.randn_like(x0)
    pred = model(schedule.add_noise(x0, t, noise), t / schedule.steps)
    loss = torch.nn.functional.mse_loss(pred, noise)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if it % 20 == 19:
        print(f"iteration {it + 1}: {loss.item():.4f}")
