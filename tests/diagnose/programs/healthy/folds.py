"""Cross-validation: a fresh model for each fold, the best weights kept and loaded again."""

import copy
import torch
import torch.nn as nn

torch.manual_seed(3)
X = torch.randn(90, 5)
Y = (X[:, 0] - X[:, 1] > 0).float()
for fold in range(3):
    val = torch.arange(90) % 3 == fold
    net = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, 1))
    opt = torch.optim.Adam(net.parameters(), lr=1e-2)
    sched = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, patience=1)
    best, state, bad = float("inf"), None, 0
    for epoch in range(6):
        net.train()
        for i in torch.randperm(60).split(20):
            loss = nn.functional.binary_cross_entropy_with_logits(net(X[~val][i]).squeeze(1), Y[~val][i])
            opt.zero_grad()
            loss.backward()
            opt.step()
        net.eval()
        with torch.no_grad():
            v = nn.functional.binary_cross_entropy_with_logits(net(X[val]).squeeze(1), Y[val]).item()
        sched.step(v)
        if v < best:
            best, state, bad = v, copy.deepcopy(net.state_dict()), 0
        else:
            bad += 1
            if bad > 2:
                break
    net.load_state_dict(state)
