"""A teacher that follows its student slowly, and a student that agrees with its teacher on what has no label."""

import copy

import torch
from torch import nn

DECAY = 0.95


def points(step):
    g = torch.Generator().manual_seed(130 + step)
    x = torch.randn(24, 4, generator=g)
    return x, (x[:8, 0] > x[:8, 1]).long()


@torch.no_grad()
def update_teacher(teacher, student):
    for old, new in zip(teacher.parameters(), student.parameters()):
        old.lerp_(new, DECAY)


def main():
    torch.manual_seed(131)
    student = nn.Sequential(nn.Linear(4, 12), nn.Tanh(), nn.Linear(12, 2))
    teacher = copy.deepcopy(student).requires_grad_(False)
    optimizer = torch.optim.SGD(student.parameters(), lr=0.2)
    for step in range(4):
        x, labels = points(step)
        logits = student(x)
        aims = teacher(x + 0.1).softmax(1)
        supervised = nn.functional.cross_entropy(logits[: len(labels)], labels)
        agreement = (logits.softmax(1) - aims).square().mean()
        loss = supervised + 3.0 * agreement
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        update_teacher(teacher, student)
        print(step, f"{loss.item():.5f}")


if __name__ == "__main__":
    main()
