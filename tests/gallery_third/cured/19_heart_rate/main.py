import torch
from torch.utils.data import DataLoader, TensorDataset

from pulse.criteria import SmoothError
from pulse.net import PulseNet


def sensor(n=320, length=40):
    rate = torch.randn(n, length).cumsum(1)
    rate = rate - rate.mean(1, keepdim=True)
    light = rate + 0.8 * torch.randn(n, length)
    motion = 0.5 * rate + torch.randn(n, length)
    return torch.stack([light, motion], dim=1), rate / 3


def main():
    torch.manual_seed(19)
    loader = DataLoader(TensorDataset(*sensor()), batch_size=20, shuffle=True, drop_last=True)
    net, criterion = PulseNet(), SmoothError()
    optimizer = torch.optim.AdamW(net.parameters(), lr=5e-3)
    for epoch in range(5):
        losses = []
        for signal, rate in loader:
            loss = criterion(net(signal), rate)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        print("epoch", epoch + 1, "loss", round(sum(losses) / len(losses), 4))


main()
