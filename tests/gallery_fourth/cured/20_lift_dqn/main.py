import warnings

import torch

from agent import Agent
from lift import Lift

warnings.filterwarnings("ignore")
torch.manual_seed(2)
gen = torch.Generator().manual_seed(4)
lift, agent = Lift(gen), Agent()
memory = []
for _ in range(1500):
    s = lift.state()
    a = int(torch.randint(3, (1,), generator=gen))
    r, done = lift.step(a)
    memory.append((s, torch.tensor(a), torch.tensor(r), lift.state(), torch.tensor(float(done))))
    if done:
        lift.reset()

for update in range(1, 111):
    picks = torch.randint(len(memory), (64,), generator=gen).tolist()
    loss = agent.learn(*map(torch.stack, zip(*(memory[i] for i in picks))))
    if update % 5 == 0:
        agent.sync()

    if update % 22 == 0:
        here, there = torch.meshgrid(torch.arange(7), torch.arange(7), indexing="ij")
        with torch.no_grad():
            greedy = agent.q(torch.stack([here, there], -1).view(-1, 2) / 3 - 1).argmax(1).view(7, 7)
        right = (greedy - 1 == (there - here).sign()).float().mean()
        print(f"update {update} loss {loss:.4f} good moves {right:.2f}")
