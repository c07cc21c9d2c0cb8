import torch


class Replay:
    """Random states (place, speed) and pushes; the reward is the nearness to the middle afterwards."""

    def __init__(self, size):
        self.state = torch.randn(size, 2)
        self.action = 2 * torch.rand(size, 1) - 1
        place = self.state[:, :1] + 0.5 * self.state[:, 1:] + self.action
        speed = self.state[:, 1:] + 0.5 * self.action
        self.after = torch.cat([place, speed], dim=1)
        self.reward = 1 - place[:, 0].abs()
        self.done = (place[:, 0].abs() > 2.5).float()

    def sample(self, n):
        rows = torch.randint(0, len(self.state), (n,))
        return tuple(t[rows] for t in (self.state, self.action, self.reward, self.after, self.done))
