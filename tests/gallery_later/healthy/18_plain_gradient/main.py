"""Polynomial regression without modules: a column of ones, torch.autograd.grad and steps by hand."""
import torch


def design(t, degree):
    columns = [torch.ones_like(t), t]
    for _ in range(degree - 1):
        columns.append(2 * t * columns[-1] - columns[-2])
    return torch.stack(columns, dim=1)


def objective(w, a, y, ridge=1e-4):
    r = a @ w - y
    return r.pow(2).mean() + ridge * w.pow(2).sum()


def descend(a, y, steps=60, rate=0.4, momentum=0.7):
    w = torch.zeros(a.shape[1], requires_grad=True)
    velocity = torch.zeros_like(w)
    for step in range(steps):
        value = objective(w, a, y)
        (g,) = torch.autograd.grad(value, w)
        velocity = momentum * velocity - rate * g
        with torch.no_grad():
            w += velocity
        if step % 12 == 11:
            print(f"step {step + 1:2d} objective {value.item():.5f} gradient {g.norm().item():.2e}")
    return w


torch.manual_seed(218)
t = 2 * torch.rand(200) - 1
y = 0.5 + torch.exp(-3 * t * t) - 0.8 * t + 0.05 * torch.randn(200)
w = descend(design(t, 6), y)
print("weights", [round(v, 3) for v in w.tolist()])
