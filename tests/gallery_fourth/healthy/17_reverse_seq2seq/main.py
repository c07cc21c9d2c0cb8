import torch

from seq2seq import Seq2Seq, make_rng, phrases

torch.manual_seed(17)
gen, rng = torch.Generator().manual_seed(17), make_rng(17)
VOCAB, START = 8, 0
model = Seq2Seq(VOCAB)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
kept = []
for step in range(1, 101):
    loss = model(*phrases(32, VOCAB, gen), START, forcing=1 - step / 200, rng=rng)
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    kept.append(loss.detach())
    if step % 20 == 0:
        print(f"step {step} loss {torch.stack(kept[-20:]).mean().item():.4f}")
