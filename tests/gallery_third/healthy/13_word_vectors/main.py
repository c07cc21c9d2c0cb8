import random

import torch

from vectors import SkipGram

random.seed(13)
torch.manual_seed(13)
WORDS, THEMES = 300, 10
corpus = []
for _ in range(400):
    theme = random.randrange(THEMES)
    corpus.append([min(random.randrange(THEMES, WORDS, THEMES), random.randrange(THEMES, WORDS, THEMES)) - theme
                   for _ in range(12)])

pairs = [(s[i], s[j]) for s in corpus for i in range(12) for j in (i - 1, i + 1) if 0 <= j < 12]
random.shuffle(pairs)
model = SkipGram(WORDS)
optimizer = torch.optim.SparseAdam(list(model.parameters()), lr=0.05)
for step, begin in enumerate(range(0, 90 * 96, 96), 1):
    centre, context = torch.tensor(pairs[begin : begin + 96]).t()
    negative = torch.randint(WORDS, (len(centre), 4))
    loss = model(centre, context, negative)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 15 == 0:
        print("step", step, "loss %.4f" % loss.item())
