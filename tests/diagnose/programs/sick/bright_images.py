import torch
from torch import nn
from torch.utils.data import Dataset, DataLoader


class Im(Dataset):
    def __init__(self, n=96):
        g = torch.Generator().manual_seed(1)
        self.im = torch.randint(0, 256, (n, 1, 8, 8), dtype=torch.uint8, generator=g)
        self.lab = (self.im[:, 0, 0, 0] > 127).long()

    def __len__(self):
        return len(self.im)

    def __getitem__(self, i):
        return self.im[i].float(), self.lab[i]  # <-- unnormalised_inputs


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.c = nn.Conv2d(1, 4, 3)
        self.c2 = nn.Conv2d(4, 8, 3)
        self.f = nn.Linear(8 * 16, 10)

    def forward(self, x):
        return self.f(torch.relu(self.c2(torch.relu(self.c(x)))).flatten(1))


torch.manual_seed(0)
net = Net()
o = torch.optim.SGD(net.parameters(), 0.05, momentum=0.9)
crit = nn.CrossEntropyLoss()
for e in range(4):
    for x, y in DataLoader(Im(), 16, shuffle=True):
        o.zero_grad()
        l = crit(net(x), y)
        l.backward()
        o.step()
