"""Machine failures: three in a hundred; some batches have none."""
import torch
from torch.utils.data import DataLoader, TensorDataset

from plant.model import FailureNet
from plant.records import records


def report(net, x, y):
    net.eval()
    with torch.no_grad():
        score = net(x)
    order = score.argsort(descending=True)
    top = y[order[: int(y.sum())]].mean().item()
    print(f"    precision at the number of failures {top:.3f}")
    net.train()


def main():
    torch.manual_seed(222)
    x, y = records(960)
    net = FailureNet(x.shape[1])
    weight = torch.tensor(5.0)
    opt = torch.optim.Adam(net.parameters(), lr=5e-3)
    loader = DataLoader(TensorDataset(x, y), batch_size=48, shuffle=True)
    for epoch in range(4):
        total = 0.0
        for bx, by in loader:
            out = net(bx)
            loss = torch.nn.functional.binary_cross_entropy_with_logits(out, by, pos_weight=weight)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        print(f"epoch {epoch + 1} loss {total / len(loader):.4f}")
        report(net, *records(600))


main()
