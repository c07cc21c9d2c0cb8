import torch
from torch import nn
from torch.distributions import Categorical


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(4, 32), nn.Linear(32, 3)

    def forward(self, state):
        return Categorical(logits=self.head(torch.tanh(self.body(state))))


class Agent:
    def __init__(self):
        self.policy = Policy()
        self.adam = torch.optim.Adam(self.policy.parameters(), 1e-2)
        self.saved, self.rewards = [], []

    def act(self, state):
        choice = self.policy(state)
        action = choice.sample()
        self.saved.append(choice.log_prob(action))
        return action.item()

    def finish(self):
        total, returns = 0.0, []
        for reward in reversed(self.rewards):
            total = reward + 0.99 * total
            returns.insert(0, total)
        returns = torch.tensor(returns)
        returns = (returns - returns.mean()) / (returns.std() + 1e-8)
        losses = []
        for log_prob, R in zip(self.saved, returns):
            losses.append(log_prob * R)  # <-- wrong_sign
        self.adam.zero_grad()
        torch.stack(losses).sum().backward()
        self.adam.step()
        self.saved.clear()
        self.rewards.clear()


torch.manual_seed(0)
agent = Agent()
for episode in range(25):
    state = torch.randn(4)
    for step in range(12):
        agent.rewards.append(1.0 if agent.act(state) == int(state[0] > 0) else 0.0)
        state = torch.randn(4)
    agent.finish()
