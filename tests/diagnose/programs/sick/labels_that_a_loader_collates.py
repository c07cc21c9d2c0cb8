import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Pictures(Dataset):
    def __init__(self, count):
        names = [f"picture_{at}_{'cat' if at % 2 else 'dog'}.png" for at in range(count)]
        self.items = [(torch.randn(7), name) for name in names]

    def __len__(self):
        return len(self.items)

    def __getitem__(self, at):
        picture, name = self.items[at]
        label = int(name.endswith("cat"))  # <-- constant_data
        return (picture - 0.1) / 0.9, label


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(7, 16), nn.ReLU(), nn.Linear(16, 2))
adam = torch.optim.Adam(net.parameters(), 1e-3)
for epoch in range(3):
    for x, y in DataLoader(Pictures(96), 16, shuffle=True):
        adam.zero_grad()
        nn.functional.cross_entropy(net(x), y).backward()
        adam.step()
