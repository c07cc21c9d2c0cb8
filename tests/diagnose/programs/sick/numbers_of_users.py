import torch
from torch import nn

torch.manual_seed(0)
ids = torch.arange(300, dtype=torch.int64) * 3 + 20_000_000_0
user = ids.float()  # <-- precision_lost
y = ((ids // 3) % 2).float().unsqueeze(1)
feat = ((user - user.min()) / (user.max() - user.min())).unsqueeze(1)
net = nn.Sequential(nn.Linear(1, 32), nn.ReLU(), nn.Linear(32, 1))
o = torch.optim.Adam(net.parameters(), 1e-3)
for step in range(30):
    i = torch.randint(0, 300, (64,))
    l = nn.functional.binary_cross_entropy_with_logits(net(feat[i]), y[i])
    o.zero_grad()
    l.backward()
    o.step()
