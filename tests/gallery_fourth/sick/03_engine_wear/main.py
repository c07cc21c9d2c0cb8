import torch
from torch.utils.data import DataLoader, TensorDataset

from engine import train_one_epoch
from machine import WearAndKind, vibrations


def main():
    torch.manual_seed(11)
    gen = torch.Generator().manual_seed(12)
    data = TensorDataset(*vibrations(320, gen))
    loader = DataLoader(data, batch_size=32, shuffle=True)
    model = WearAndKind()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for epoch in range(6):
        loss = train_one_epoch(model, loader, optimizer)
        print(f"epoch {epoch} loss {loss:.4f}")


if __name__ == "__main__":
    main()
