"""Next note of a melody: a GRU whose output matrix is meant to be its note embedding."""
import torch
import torch.nn.functional as F

from music.base import NoteModel
from music.scores import melodies


class GRUMelody(NoteModel):
    def make_body(self, dim):
        return torch.nn.GRU(dim, dim, batch_first=True)

    def run_body(self, x):
        return self.body(x)[0]


def main(steps=60):
    torch.manual_seed(137)
    model = GRUMelody(notes=24, dim=32)
    print("weights:", sum(p.numel() for p in model.parameters()))
    opt = torch.optim.AdamW(model.parameters(), lr=6e-3)
    for step in range(1, steps + 1):
        notes = melodies(24, 17)
        out = model(notes[:, :-1])
        loss = F.cross_entropy(out.flatten(0, 1), notes[:, 1:].flatten())
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 12 == 0:
            print(f"step {step} loss {loss.item():.4f}")


main()
