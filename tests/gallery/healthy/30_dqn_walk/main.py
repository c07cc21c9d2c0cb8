"""Deep Q-learning on a small chain with replay memory and target network."""
import random
from collections import deque

import torch
from torch import nn


class QNet(nn.Module):
    def __init__(self, states=7, actions=2):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(states, 32), nn.ReLU(), nn.Linear(32, actions))

    def forward(self, s):
        return self.net(nn.functional.one_hot(s, 7).float())


def env_step(s, a):
    s2 = max(0, min(6, s + (1 if a == 1 else -1)))
    return s2, 1.0 if s2 == 6 else 0.0, s2 == 6


def main():
    random.seed(30)
    torch.manual_seed(30)
    online, target = QNet(), QNet()
    target.load_state_dict(online.state_dict())
    for p in target.parameters():
        p.requires_grad = False
    opt = torch.optim.Adam(online.parameters(), lr=5e-3)
    memory, s, eps, wins = deque(maxlen=500), 2, 1.0, 0
    updates = 0
    for t in range(440):
        with torch.no_grad():
            a = random.randrange(2) if random.random() < eps else int(online(torch.tensor([s])).argmax())
        s2, r, done = env_step(s, a)
        memory.append((s, a, r, s2, done))
        wins += done
        s = random.randrange(5) if done else s2
        eps = max(0.1, eps * 0.99)
        if t < 40 or t % 4:
            continue
        ss, aa, rr, s2s, dd = map(torch.tensor, zip(*random.sample(list(memory), 32)))
        q = online(ss).gather(1, aa[:, None]).squeeze(1)
        with torch.no_grad():
            goal = rr + 0.9 * (~dd).float() * target(s2s).max(1).values
        loss = nn.functional.smooth_l1_loss(q, goal)
        opt.zero_grad()
        loss.backward()
        opt.step()
        updates += 1
        if updates % 10 == 0:
            target.load_state_dict(online.state_dict())
        if updates % 20 == 0:
            print(f"update {updates} loss {loss.item():.5f} wins {wins} value of start {online(torch.tensor([2])).max().item():.3f}")


if __name__ == "__main__":
    main()
