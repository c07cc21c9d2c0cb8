import torch


class Balance:
    """Many carts at once: push left or right to stay near the middle."""

    def __init__(self, n, gen):
        self.n, self.gen = n, gen

    def reset(self):
        self.x = torch.rand(self.n, 2, generator=self.gen) - 0.5
        return self.x.clone()

    def step(self, action):
        push = 0.2 * (action.float() * 2 - 1)
        speed = self.x[:, 1] + push + 0.05 * torch.randn(self.n, generator=self.gen)
        self.x = torch.stack([self.x[:, 0] + 0.3 * speed, 0.9 * speed], 1)
        return self.x.clone(), 1 - self.x[:, 0].abs().clamp(max=2)
