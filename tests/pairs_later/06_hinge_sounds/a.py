"""Tells doors by their hinges: a bilinear model of two microphones with an optimizer of our own."""

import torch

torch.manual_seed(61)
LEFT, RIGHT, RANK, DOORS = 7, 6, 5, 3
left = (torch.randn(RANK, LEFT) * 0.4).requires_grad_()
right = (torch.randn(RANK, RIGHT) * 0.4).requires_grad_()
mix = (torch.randn(DOORS, RANK) * 0.5).requires_grad_()
shift = torch.zeros(DOORS, requires_grad=True)


def recordings(step):
    g = torch.Generator().manual_seed(600 + step)
    u, v = torch.randn(10, LEFT, generator=g), torch.randn(10, RIGHT, generator=g)
    return u, v, (u[:, 0] * v[:, 0] > 0).long() + (u[:, 1] > 0.8).long()


class Adam:
    def __init__(self, params, lr=0.05, b1=0.9, b2=0.999, eps=1e-8):
        self.params, self.lr, self.b1, self.b2, self.eps = list(params), lr, b1, b2, eps
        self.m = [torch.zeros_like(p) for p in self.params]
        self.v = [torch.zeros_like(p) for p in self.params]
        self.t = 0

    @torch.no_grad()
    def step(self):
        self.t += 1
        for p, m, v in zip(self.params, self.m, self.v):
            m.mul_(self.b1).add_(p.grad * (1 - self.b1))
            v.mul_(self.b2).add_(p.grad**2 * (1 - self.b2))
            m_hat = m / (1 - self.b1**self.t)
            v_hat = v / (1 - self.b2**self.t)
            p -= self.lr * m_hat / (v_hat.sqrt() + self.eps)


if __name__ == "__main__":
    optimizer = Adam([left, right, mix, shift])
    for step in range(5):
        u, v, doors = recordings(step)
        scores = torch.einsum("kr,rl,bl,rm,bm->bk", mix, left, u, right, v) + shift
        loss = torch.nn.functional.cross_entropy(scores, doors)
        for p in optimizer.params:
            p.grad = None
        loss.backward()
        optimizer.step()
        print(step, round(loss.item(), 6))
