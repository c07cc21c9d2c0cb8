"""A small student learns from a large teacher's softened outputs."""
import torch
from torch import nn
import torch.nn.functional as F


def mlp(*sizes):
    layers = []
    for a, b in zip(sizes, sizes[1:]):
        layers += [nn.Linear(a, b), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


class Task:
    def __init__(self):
        self.w = torch.randn(8, 5)

    def batch(self, n=64):
        x = torch.randn(n, 8)
        return x, (x @ self.w + 0.5 * torch.randn(n, 5)).argmax(1)


def train_teacher(task, steps):
    teacher = mlp(8, 96, 96, 5)
    opt = torch.optim.Adam(teacher.parameters(), lr=5e-3)
    for _ in range(steps):
        x, y = task.batch()
        loss = F.cross_entropy(teacher(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(f"teacher loss {loss.item():.4f}")
    return teacher.eval()


def distill(task, teacher, steps, t=3.0, alpha=0.7):
    student = mlp(8, 24, 5)
    opt = torch.optim.Adam(student.parameters(), lr=1e-2)
    for step in range(steps):
        x, y = task.batch()
        with torch.no_grad():
            soft = F.log_softmax(teacher(x) / t, dim=1)
        out = student(x)
        kd = F.kl_div(F.log_softmax(out / t, dim=1), soft, log_target=True, reduction="batchmean") * t * t
        loss = alpha * kd + (1 - alpha) * F.cross_entropy(out, y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 20 == 19:
            print(f"student step {step + 1} loss {loss.item():.4f} kd {kd.item():.4f}")


torch.manual_seed(35)
task = Task()
distill(task, train_teacher(task, 50), 60)
