import torch

BASES = {"A": 1, "C": 2, "G": 3, "T": 4}
UNKNOWN = 0
MOTIFS = ["tataat", "ttgaca"]


def read_genome(n, gen, length=30):
    """Sequences in lower case, as the files of the browser have them; half contain a promoter."""
    letters = torch.randint(4, (n, length), generator=gen)
    sequences = ["".join("acgt"[i] for i in row) for row in letters.tolist()]
    promoter = torch.randint(2, (n,), generator=gen)
    for i, flag in enumerate(promoter.tolist()):
        if flag:
            at = int(torch.randint(length - 6, (1,), generator=gen))
            sequences[i] = sequences[i][:at] + MOTIFS[i % 2] + sequences[i][at + 6 :]
    return sequences, promoter


def to_codes(sequences):
    return torch.tensor([[BASES.get(base.upper(), UNKNOWN) for base in s] for s in sequences])
