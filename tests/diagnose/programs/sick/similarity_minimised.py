import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
encoder = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 16))
predictor = nn.Sequential(nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 16))
sgd = torch.optim.SGD([*encoder.parameters(), *predictor.parameters()], 0.05)
for step in range(40):
    x = torch.randn(32, 8)
    one, other = (encoder(x + 0.1 * torch.randn_like(x)) for _ in range(2))
    near = F.cosine_similarity(predictor(one), other.detach(), dim=1).mean()
    far = F.cosine_similarity(predictor(other), one.detach(), dim=1).mean()
    loss = 0.5 * (near + far)  # <-- wrong_sign
    sgd.zero_grad()
    loss.backward()
    sgd.step()
