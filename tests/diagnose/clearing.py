"""All the ways in which people clear gradients by hand, and programs that do it."""

from __future__ import annotations

WAYS = """\
p.grad = torch.zeros_like(p)
p.grad = torch.zeros(p.shape)
p.grad = p.new_zeros(p.shape)
p.grad = torch.full_like(p, 0.0)
p.grad = torch.empty_like(p).zero_()
p.grad = p.detach() * 0
p.grad = None
p.grad = None if p.grad is None else p.grad * 0
p.grad = torch.zeros_like(p) if p.grad is None else p.grad.zero_()
setattr(p, "grad", None)
del p.grad
p.grad is not None and p.grad.zero_()
p.grad is not None and p.grad.data.zero_()
p.grad is not None and p.grad.detach().zero_()
p.grad is not None and p.grad.detach_().zero_()
p.grad is not None and p.grad.fill_(0)
p.grad is not None and p.grad.copy_(torch.tensor(0.0))
p.grad is not None and p.grad.copy_(torch.zeros_like(p))
p.grad is not None and p.grad.mul_(0.0)
p.grad is not None and p.grad.clamp_(0, 0)
p.grad is not None and p.grad.masked_fill_(torch.ones_like(p, dtype=torch.bool), 0)
p.grad is not None and p.grad.__setitem__(..., 0)
p.grad is not None and p.grad.__imul__(0)
p.grad is not None and p.grad.__isub__(p.grad)
p.grad is not None and setattr(p.grad, "data", torch.zeros_like(p))
p.grad is not None and torch.zero_(p.grad)
p.grad is not None and torch.nn.init.zeros_(p.grad)
p.grad is not None and torch.nn.init.constant_(p.grad, 0)
p.grad is not None and torch._foreach_zero_([p.grad])
p.grad is not None and torch._foreach_mul_([p.grad], 0.0)
""".splitlines()
"""What is done with each parameter."""

OF_ALL = [
    "model.zero_grad()",
    "model.zero_grad(set_to_none=False)",
    "optimizer.zero_grad(set_to_none=False)",
    "[each.zero_grad() for each in model]",
    "[each.zero_grad(set_to_none=False) for each in model]",
    "step and torch._foreach_zero_([p.grad for p in model.parameters()])",
    "flat.zero_()",
]
"""What is done once for all of them; `flat` is what all gradients are parts of."""

STATEMENTS = [*(f"for p in model.parameters(): {way}" for way in WAYS), *OF_ALL]

STEPS = """\
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
if "flat" in WAY:
    flat = torch.zeros(sum(p.numel() for p in model.parameters()))
    for p, part in zip(model.parameters(), flat.split([p.numel() for p in model.parameters()])):
        p.grad = part.view_as(p)
torch.manual_seed(rank)
for step in range(5):
    exec(WAY)
    model(torch.randn(5, 4)).square().mean().backward()
    AVERAGE
    optimizer.step()
"""

BY_HAND = """\
torch.manual_seed(0)
model = torch.nn.Linear(4, 2)
for step in range(6):
    model(torch.randn(5, 4)).square().mean().backward()
    with torch.no_grad():
        for p in model.parameters():
            p -= 0.01 * p.grad
        for p in model.parameters(): WAY
"""
