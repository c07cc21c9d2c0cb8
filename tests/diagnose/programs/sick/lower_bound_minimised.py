import torch
from torch import nn
from torch.nn import functional as F


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(10, 16)
        self.mean, self.log_variance = nn.Linear(16, 3), nn.Linear(16, 3)
        self.decoder = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 10))

    def forward(self, x):
        hidden = torch.relu(self.encoder(x))
        mean, log_variance = self.mean(hidden), self.log_variance(hidden)
        code = mean + torch.randn_like(mean) * (0.5 * log_variance).exp()
        return self.decoder(code), mean, log_variance


def elbo(x, out, mean, log_variance):
    likelihood = -F.binary_cross_entropy_with_logits(out, x, reduction="sum") / len(x)
    divergence = -0.5 * (1 + log_variance - mean**2 - log_variance.exp()).sum(1).mean()
    return likelihood - divergence


torch.manual_seed(0)
net = Autoencoder()
adam = torch.optim.Adam(net.parameters(), 3e-3)
X = (torch.rand(200, 10) > 0.6).float()
for step in range(40):
    x = X[torch.randint(0, 200, (32,))]
    loss = elbo(x, *net(x))  # <-- wrong_sign
    adam.zero_grad()
    loss.backward()
    adam.step()
