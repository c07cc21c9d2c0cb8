import torch
from torch import nn

from encoder import Encoder
from lora import add_lora

torch.manual_seed(2)
gen = torch.Generator().manual_seed(2)


def requests(n, intents):
    intent = torch.randint(intents, (n,), generator=gen)
    ids = torch.randint(1, 40, (n, 9), generator=gen)
    ids[:, :3] = 1 + intent.unsqueeze(1) * 3 + torch.randint(3, (n, 3), generator=gen)
    length = torch.randint(3, 10, (n, 1), generator=gen)
    return ids * (torch.arange(9) < length), intent


def train(model, intents, steps, lr):
    chosen = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(chosen, lr=lr, weight_decay=0.0)
    print("learning", sum(p.numel() for p in chosen), "of", sum(p.numel() for p in model.parameters()))
    for step in range(1, steps + 1):
        ids, intent = requests(32, intents)
        loss = nn.functional.cross_entropy(model(ids), intent)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 15 == 0:
            print(f"  {step} loss {loss.item():.4f}")


model = Encoder(41, 32, 4)
train(model, 4, 45, lr=3e-3)
model.requires_grad_(False)
add_lora(model, ["query", "key", "value"])
model.head = nn.Linear(32, 6)
train(model, 6, 70, lr=1e-2)
