"""Asks how long to train, shows a bar of progress, and prints 12,000 lines."""

import torch
from tqdm import tqdm

steps = int(input("How many steps? "))
weight = torch.tensor([2.0, -1.0], requires_grad=True)
optimizer = torch.optim.SGD([weight], lr=0.1)
for step in tqdm(range(steps)):
    loss = (weight * weight).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    for line in range(12_000 // steps):
        print(f"step {step} line {line}: weight {weight.tolist()}")
print("done")
