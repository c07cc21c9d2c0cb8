"""Siamese network: same person or not, contrastive loss."""
import torch
import torch.nn as nn
import torch.nn.functional as F

from metric import euclidean


class Embedder(nn.Module):
    def __init__(self, dim=24, out=8):
        super().__init__()
        self.fc1 = nn.Linear(dim, 48)
        self.fc2 = nn.Linear(48, out, bias=False)

    def forward(self, x):
        return self.fc2(torch.relu(self.fc1(x)))


class Faces:
    def __init__(self, people=12, shots=6, dim=24):
        centres = torch.randn(people, dim)
        self.x = centres[:, None] + 0.4 * torch.randn(people, shots, dim)
        self.people, self.shots = people, shots

    def pairs(self, n, replacement):
        """n pairs, half of them of one person."""
        who = torch.randint(0, self.people, (n,))
        shift = torch.randint(1, self.people, (n,))
        same = torch.arange(n) % 2 == 0
        other = torch.where(same, who, (who + shift) % self.people)
        i = torch.randint(0, self.shots, (n,))
        if replacement:
            j = torch.randint(0, self.shots, (n,))
        else:
            j = (i + torch.randint(1, self.shots, (n,))) % self.shots
        return self.x[who, i], self.x[other, j], same.float()


def contrastive(d, same, margin=2.0):
    return (same * d ** 2 + (1 - same) * F.relu(margin - d) ** 2).mean()


def accuracy(net, faces):
    with torch.no_grad():
        a, b, same = faces.pairs(200, replacement=False)
        d = euclidean(net(a), net(b))
    return ((d < 1.0).float() == same).float().mean().item()


torch.manual_seed(11)
faces = Faces()
net = Embedder()
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
phases = [("distinct shots", 45, False), ("all shots", 45, True)]

step = 0
for title, steps, replacement in phases:
    print("phase:", title)
    for _ in range(steps):
        a, b, same = faces.pairs(32, replacement)
        d = euclidean(net(a), net(b))
        loss = contrastive(d, same)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 9 == 0:
            print(f"  {step:3d} loss {loss.item():.4f}")
        step += 1
    print(f"  verification accuracy {accuracy(net, faces):.2f}")
