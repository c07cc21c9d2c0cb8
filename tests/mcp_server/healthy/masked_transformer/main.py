"""Which of two signs is more frequent in a padded sequence: an encoder with a padding mask, warm-up and clipping."""

import torch
from torch import nn

torch.manual_seed(11)
PAD, WIDTH, LONGEST = 0, 32, 20


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(10, WIDTH, padding_idx=PAD)
        self.position = nn.Parameter(0.02 * torch.randn(1, LONGEST, WIDTH))
        layer = nn.TransformerEncoderLayer(WIDTH, 4, 64, dropout=0.1, batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(WIDTH, 2)

    def forward(self, tokens):
        padding = tokens == PAD
        hidden = self.embed(tokens) + self.position[:, : tokens.shape[1]]
        hidden = self.encoder(hidden, src_key_padding_mask=padding)
        kept = (~padding).unsqueeze(-1)
        return self.head((hidden * kept).sum(1) / kept.sum(1))


def batch(size):
    tokens = torch.randint(1, 10, (size, LONGEST))
    lengths = torch.randint(8, LONGEST + 1, (size, 1))
    tokens = tokens.masked_fill(torch.arange(LONGEST) >= lengths, PAD)
    labels = ((tokens == 1).sum(1) > (tokens == 2).sum(1)).long()
    return tokens, labels


model = Classifier()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.01)
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / 20))
losses = []
for step in range(150):
    tokens, labels = batch(64)
    loss = nn.functional.cross_entropy(model(tokens), labels)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    scheduler.step()
    losses.append(loss.item())
    if step % 30 == 29:
        print(f"step {step + 1} loss {losses[-1]:.4f} lr {scheduler.get_last_lr()[0]:.5f}")
print(f"loss from {losses[0]:.4f} to {losses[-1]:.4f}")
