# tickets per stop and day: counts, log link, Poisson likelihood
import torch
from torch import nn, optim
from torch.utils.data import DataLoader, random_split, TensorDataset

torch.manual_seed(19)
STOPS = 30
popular = 4 + 1.2 * torch.randn(STOPS)
stop = torch.randint(STOPS, (1500,))
weather = torch.randn(1500, 3)
rate = torch.exp(popular[stop] + 0.3 * weather[:, 0] - 0.2 * weather[:, 1])
tickets = torch.poisson(rate)
train, valid = random_split(TensorDataset(stop, weather, tickets), [1200, 300])


class Counts(nn.Module):
    def __init__(self):
        super().__init__()
        self.stop = nn.Embedding(STOPS, 1)
        self.weather = nn.Linear(3, 1)
        nn.init.zeros_(self.stop.weight)

    def forward(self, stop, weather):
        return (self.stop(stop) + self.weather(weather)).squeeze(1)


model = Counts()
criterion = nn.PoissonNLLLoss(log_input=True, full=False)
optimizer = optim.Adam(model.parameters(), lr=0.2)
for epoch in range(6):
    model.train()
    for s, w, t in DataLoader(train, batch_size=80, shuffle=True):
        optimizer.zero_grad()
        loss = criterion(model(s, w), t)
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        s, w, t = zip(*[valid[i] for i in range(len(valid))])
        val = criterion(model(torch.stack(s), torch.stack(w)), torch.stack(t))
    print(f"epoch {epoch} train {loss.item():.2f} valid {val.item():.2f}")
