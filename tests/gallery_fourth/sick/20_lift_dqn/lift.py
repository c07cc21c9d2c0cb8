import torch


class Lift:
    """A lift with seven floors: go to the floor where somebody waits."""

    def __init__(self, gen, floors=7):
        self.gen, self.floors = gen, floors
        self.reset()

    def reset(self):
        self.at, self.goal = torch.randint(self.floors, (2,), generator=self.gen).tolist()

    def state(self):
        return torch.tensor([self.at / 3 - 1, self.goal / 3 - 1])

    def step(self, action):
        self.at = min(max(self.at + action - 1, 0), self.floors - 1)
        done = self.at == self.goal and action == 1
        return (1.0 if done else -0.1), done
