import torch

from nets import Critic, Painter, strokes
from rounds import Rounds

torch.manual_seed(23)
gen = torch.Generator().manual_seed(23)
rounds = Rounds(Painter(), Critic(), lr=3e-3)

for i in range(20):
    loss = rounds.warm_up(strokes(64, gen), torch.randn(64, 4, generator=gen))
print(f"critic alone {loss:.3f}")
for i in range(1, 41):
    c, p = rounds.play(strokes(64, gen), torch.randn(64, 4, generator=gen))
    if i % 8 == 0:
        print(f"round {i}: critic {c:.3f} painter {p:.3f}")
