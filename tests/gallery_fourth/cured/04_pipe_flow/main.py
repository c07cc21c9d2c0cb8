import torch

from rnn import Accumulator, Learner
from series import inflow

torch.manual_seed(1)
gen = torch.Generator().manual_seed(2)
learner = Learner(Accumulator(), lr=0.005, max_norm=1.0)

for step in range(1, 101):
    x, y = inflow(32, 20, gen)
    loss = learner.update(x, y)
    if step % 10 == 0:
        print(f"step {step} mse {loss:.4f}")
