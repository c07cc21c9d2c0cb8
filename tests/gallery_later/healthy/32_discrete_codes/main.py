"""A message of three symbols: hard choices forward, soft ones backward, the temperature falls."""
import torch
from torch import nn
import torch.nn.functional as F


class Speaker(nn.Module):
    def __init__(self, things=16, symbols=6, length=3):
        super().__init__()
        self.length, self.symbols = length, symbols
        self.net = nn.Sequential(nn.Linear(things, 48), nn.ReLU(), nn.Linear(48, length * symbols))

    def forward(self, x, tau):
        logits = self.net(x).view(-1, self.length, self.symbols)
        soft = F.softmax(logits / tau, dim=-1)
        hard = F.one_hot(soft.argmax(-1), self.symbols).float()
        return hard + soft - soft.detach()


def main():
    torch.manual_seed(232)
    speaker = Speaker()
    listener = nn.Sequential(nn.Flatten(), nn.Linear(18, 48), nn.ReLU(), nn.Linear(48, 16))
    opt = torch.optim.Adam([*speaker.parameters(), *listener.parameters()], lr=8e-3)
    for step in range(80):
        tau = max(0.5, 1.5 * 0.98 ** step)
        thing = torch.randint(0, 16, (64,))
        guess = listener(speaker(F.one_hot(thing, 16).float(), tau))
        loss = F.cross_entropy(guess, thing)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 16 == 15:
            print(f"{step + 1} loss {loss.item():.4f} understood {(guess.argmax(1) == thing).float().mean().item():.2f}")


main()
