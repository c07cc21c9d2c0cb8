"""A soft actor with two critics, slow copies and a learned temperature on a one-step task."""
import torch

from soft.agent import Agent


def situations(n):
    return torch.rand(n, 3) * 2 - 1


def reward(s, a):
    return 1 - (a - 0.6 * s[:, :1]).pow(2).sum(1) - 0.2 * (s[:, 1] * a[:, 0]).abs()


def main():
    torch.manual_seed(226)
    agent = Agent(states=3, actions=1)
    for step in range(1, 61):
        s = situations(64)
        with torch.no_grad():
            a, _ = agent.actor(s)
        q_loss = agent.learn_critics(s, a, reward(s, a), situations(64))
        pi_loss = agent.learn_actor(s)
        agent.follow()
        if step % 12 == 0:
            with torch.no_grad():
                mean = reward(s, torch.tanh(agent.actor.body(s)[:, :1])).mean()
            print(f"{step} q {q_loss:.4f} pi {pi_loss:.4f} alpha {agent.log_alpha.exp().item():.3f} mean {mean.item():.3f}")


main()
