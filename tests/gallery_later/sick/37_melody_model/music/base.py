from torch import nn


class NoteModel(nn.Module):
    """Embedding, body, output; the output layer shares the embedding's matrix."""

    def __init__(self, notes, dim):
        super().__init__()
        self.notes = nn.Embedding(notes, dim)
        self.body = self.make_body(dim)
        self.output = nn.Linear(dim, notes, bias=False)
        nn.init.normal_(self.notes.weight, std=dim ** -0.5)
        self.tie_weights()

    def tie_weights(self):
        self.output.weight.data.copy_(self.notes.weight.data)

    def make_body(self, dim):
        raise NotImplementedError

    def run_body(self, x):
        raise NotImplementedError

    def forward(self, ids):
        return self.output(self.run_body(self.notes(ids)))
