import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from fit import fit
from spectra import spoken


class DigitNet(nn.Module):
    def __init__(self, bins=20, digits=6):
        super().__init__()
        self.conv1 = nn.Conv1d(bins, 24, 3, padding=1)
        self.conv2 = nn.Conv1d(24, 24, 3, padding=1)
        self.out = nn.Linear(24, digits)

    def forward(self, x):
        x = torch.relu(self.conv1(x))
        x = torch.relu(self.conv2(x))
        return self.out(x.amax(-1))


torch.manual_seed(21)
loader = DataLoader(TensorDataset(*spoken(256, 22)), batch_size=16, shuffle=True)
net = DigitNet()
fit(net, loader, nn.CrossEntropyLoss(), torch.optim.Adam(net.parameters(), lr=2e-3), epochs=5)
