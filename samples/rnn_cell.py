"""One step of a recurrent network: the cell that every introduction to autograd begins with."""

import graphscope as torch

torch.manual_seed(1)

x = torch.randn(1, 10)
h = torch.randn(1, 20)
W_h = torch.randn(20, 20, requires_grad=True)
W_x = torch.randn(20, 10, requires_grad=True)

i2h = torch.mm(W_x, x.t())
h2h = torch.mm(W_h, h.t())
next_h = (h2h + i2h).tanh()

loss = next_h.sum()
loss.backward()

sizes = W_h.grad.abs().sum(1)
print(f"loss = {loss.item():.4f}")
print(f"gradient of a row of W_h: from {sizes.amin().item():.6f} to {sizes.amax().item():.3f}")

# Stop at the rule of tanh (`b op:tanh backward`): `p grad` arrives, `p value` says how much of it passes.
print("Question: the gradient of most rows of W_h is almost zero. Which node stops it?")
