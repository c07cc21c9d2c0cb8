import torch
from torch.nn import functional as F

from nets import Agent

torch.manual_seed(5)
gen = torch.Generator().manual_seed(5)


def room(s, a):
    """Inside and wanted temperature; heating moves the one towards the other."""
    following = torch.stack([s[:, 0] + 0.5 * a[:, 0], s[:, 1]], 1)
    return following, -(following[:, :1] - following[:, 1:]).abs() - 0.02 * a.pow(2)


states = torch.rand(2000, 2, generator=gen) * 2 - 1
actions = torch.rand(2000, 1, generator=gen) * 2 - 1
following, rewards = room(states, actions)
agent = Agent(2, 1)

for update in range(1, 56):
    i = torch.randint(2000, (64,), generator=gen)
    with torch.no_grad():
        wanted = rewards[i] + 0.6 * agent.value(agent.slow_critic, following[i], agent.slow_actor(following[i]))
    critic_loss = F.mse_loss(agent.value(agent.critic, states[i], actions[i]), wanted)
    agent.opt_critic.zero_grad()
    critic_loss.backward()
    agent.opt_critic.step()

    actor_loss = -agent.value(agent.critic, states[i], agent.actor(states[i])).mean()
    agent.opt_actor.zero_grad()
    actor_loss.backward()  # also leaves gradients in the critic, which its own zero_grad removes
    agent.opt_actor.step()
    agent.soft_update()
    if update % 11 == 0:
        with torch.no_grad():
            earned = room(states[:200], agent.actor(states[:200]))[1].mean().item()
        print(f"{update} critic {critic_loss.item():.4f} actor {actor_loss.item():.3f} reward {earned:.3f}")
