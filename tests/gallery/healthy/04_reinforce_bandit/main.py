"""REINFORCE with a learned, detached baseline on a contextual bandit."""
import torch
from torch import nn
from torch.distributions import Categorical


class Agent(nn.Module):
    def __init__(self, context=6, arms=4):
        super().__init__()
        self.policy = nn.Sequential(nn.Linear(context, 32), nn.Tanh(), nn.Linear(32, arms))
        self.value = nn.Sequential(nn.Linear(context, 32), nn.Tanh(), nn.Linear(32, 1))


def main():
    torch.manual_seed(3)
    best = torch.randn(6, 4)
    agent = Agent()
    opt = torch.optim.Adam(agent.parameters(), lr=1e-2)
    for update in range(120):
        ctx = torch.randn(64, 6)
        dist = Categorical(logits=agent.policy(ctx))
        arm = dist.sample()
        reward = (ctx @ best).gather(1, arm[:, None]).squeeze(1) + 0.1 * torch.randn(64)
        value = agent.value(ctx).squeeze(1)
        advantage = (reward - value).detach()
        policy_loss = -(dist.log_prob(arm) * advantage).mean()
        value_loss = nn.functional.mse_loss(value, reward)
        loss = policy_loss + 0.5 * value_loss - 0.01 * dist.entropy().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if update % 20 == 19:
            print(f"update {update + 1}: reward {reward.mean():.3f} value loss {value_loss.item():.3f}")


main()
