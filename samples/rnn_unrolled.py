"""The cell unrolled over sequences: the length of the input decides how large the graph is."""

import graphscope as torch

torch.manual_seed(2)

W_h = torch.randn(20, 20, requires_grad=True)
W_x = torch.randn(20, 10, requires_grad=True)


def read(sequence):
    """The last state of the cell after the whole sequence."""
    h = torch.zeros(1, 20)
    for x in sequence:
        i2h = torch.mm(W_x, x.t())
        h2h = torch.mm(W_h, h.t())
        h = (h2h + i2h).tanh().t()
    return h


for length in (2, 5, 12):
    sequence = [torch.randn(1, 10) for _ in range(length)]
    W_h.grad = W_x.grad = None
    loss = read(sequence).sum()
    loss.backward()
    print(f"length {length:2}: loss {loss.item():8.4f}, |W_x.grad| {W_x.grad.abs().sum().item():9.4f}")

# Every step of the sequence adds its own contribution to W_x.grad (`contributions W_x`); `export` folds the loop.
print("Question: which step of the longest sequence moves W_x the most, the first or the last?")
