"""A player of a small trick game: policy gradient with an entropy bonus; not every card may be played."""
import torch
from torch import nn

from cards.game import deal, score
from cards.policy import Player


def update(player, optimizer, baseline, bonus=0.02):
    hand, allowed = deal(96)
    probs = player(hand, allowed)
    card = torch.multinomial(probs.detach(), 1).squeeze(1)
    reward = score(hand, card)
    log_prob = probs.gather(1, card.unsqueeze(1)).squeeze(1).log()
    entropy = player.entropy(probs).mean()
    loss = -((reward - baseline) * log_prob).mean() - bonus * entropy
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item(), reward.mean().item(), entropy.item()


torch.manual_seed(140)
player = Player(5)
optimizer = torch.optim.Adam(player.parameters(), lr=1e-2)
baseline = 0.0
for game in range(1, 81):
    loss, reward, entropy = update(player, optimizer, baseline)
    baseline = 0.9 * baseline + 0.1 * reward
    if game == 1 or game % 16 == 0:
        print(f"game {game} loss {loss:.4f} reward {reward:.3f} entropy {entropy:.3f}", flush=True)
