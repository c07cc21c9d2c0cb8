import torch

from runner import Runner

SEED, FOLDS, EPOCHS = 42, 3, 5
torch.manual_seed(SEED)

# table of 300 glass samples
centres = torch.randn(6, 9) * 1.2
kind = torch.randint(6, (300,))
table = centres[kind] + 0.7 * torch.randn(300, 9)

runner = Runner(9, 6)
scores = []
folds = torch.randperm(300).chunk(FOLDS)
for k, held in enumerate(folds):
    rest = torch.cat([f for j, f in enumerate(folds) if j != k])
    last = runner.fit(table[rest], kind[rest], EPOCHS, 25)
    scores.append(runner.score(table[held], kind[held]))
    print(f"fold {k}: last loss {last:.4f} accuracy {scores[-1]:.3f}")
    runner.restart()
print("cv accuracy %.3f" % (sum(scores) / FOLDS))
