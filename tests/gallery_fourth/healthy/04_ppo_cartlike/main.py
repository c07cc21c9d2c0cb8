import torch

from env import Balance
from ppo import ActorCritic, play, ppo_loss

torch.manual_seed(4)
env, net = Balance(16, torch.Generator().manual_seed(4)), ActorCritic()
optimizer = torch.optim.Adam(net.parameters(), lr=5e-3, eps=1e-5)

for update in range(1, 11):
    rollout, reward = play(env, net)
    for _ in range(3):
        for part in torch.randperm(256).split(64):
            loss = ppo_loss(net, *(v[part] for v in rollout))
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(net.parameters(), 0.5)
            optimizer.step()
    print(f"update {update} reward {reward:.3f} loss {loss.item():.3f}")
