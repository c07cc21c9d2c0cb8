"""An ordinary sequence-to-sequence model with GRUs: numbers written in another base."""
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from seq2seq.model import Translator


class Numbers(Dataset):
    def __init__(self, n, digits=4):
        value = torch.randint(0, 256, (n,))
        self.source = torch.stack([(value // 4 ** k) % 4 for k in reversed(range(digits))], dim=1)
        self.target = torch.stack([(value // 16 ** k) % 16 for k in reversed(range(2))], dim=1)

    def __len__(self):
        return len(self.source)

    def __getitem__(self, i):
        return self.source[i], self.target[i]


class Trainer:
    def __init__(self, model, lr):
        self.model = model
        self.criterion = nn.CrossEntropyLoss()
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)

    def train_epoch(self, loader):
        self.model.train()
        total = 0.0
        for source, target in loader:
            self.optimizer.zero_grad()
            out = self.model(source, target)
            loss = self.criterion(out.flatten(0, 1), target.flatten())
            loss.backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), 2.0)
            self.optimizer.step()
            total += loss.item()
        return total / len(loader)

    @torch.no_grad()
    def evaluate(self, data):
        self.model.eval()
        source, target = data.source, data.target
        return (self.model.greedy(source) == target).float().mean().item()


if __name__ == "__main__":
    torch.manual_seed(228)
    loader, held_out = DataLoader(Numbers(512), batch_size=32, shuffle=True), Numbers(200)
    trainer = Trainer(Translator(4, 16, 48), lr=1e-2)
    for epoch in range(5):
        loss = trainer.train_epoch(loader)
        print(f"epoch {epoch + 1} loss {loss:.4f} digits right {trainer.evaluate(held_out):.3f}")
