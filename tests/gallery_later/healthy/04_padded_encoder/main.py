"""Average sentiment of messages of different length with nn.TransformerEncoder and a padding mask."""
import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

PAD = 0


class Messages(Dataset):
    def __init__(self, n, vocab=40):
        gen = torch.Generator().manual_seed(4)
        mood = torch.randn(vocab, generator=gen)
        self.rows = []
        for _ in range(n):
            length = int(torch.randint(1, 12, (1,), generator=gen))
            words = torch.randint(1, vocab, (length,), generator=gen)
            self.rows.append((words, (mood[words].mean() > 0).float()))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


def collate(rows):
    words = nn.utils.rnn.pad_sequence([w for w, _ in rows], batch_first=True, padding_value=PAD)
    return words, torch.stack([y for _, y in rows])


class Sentiment(nn.Module):
    def __init__(self, vocab=40, dim=32):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim, padding_idx=PAD)
        layer = nn.TransformerEncoderLayer(dim, 2, 64, dropout=0.1, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
        self.out = nn.Linear(dim, 1)

    def forward(self, words):
        pad = words == PAD
        h = self.encoder(self.embed(words), src_key_padding_mask=pad)
        keep = (~pad).unsqueeze(-1).float()
        return self.out((h * keep).sum(1) / keep.sum(1)).squeeze(-1)


def main():
    torch.manual_seed(204)
    train = DataLoader(Messages(480), batch_size=32, shuffle=True, collate_fn=collate)
    model = Sentiment()
    opt = torch.optim.Adam(model.parameters(), lr=4e-3)
    for epoch in range(5):
        total = 0.0
        model.train()
        for words, y in train:
            loss = F.binary_cross_entropy_with_logits(model(words), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        print(f"epoch {epoch} loss {total / len(train):.4f}")


main()
