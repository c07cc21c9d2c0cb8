import torch

PAD, CLS, SEP, MASK = 0, 1, 2, 3
FIRST = 4
LETTERS = 10


def text(length, generator):
    start = int(torch.randint(LETTERS, (1,), generator=generator))
    stride = int(torch.randint(1, 4, (1,), generator=generator))
    body = [FIRST + (start + stride * i) % LETTERS for i in range(length)]
    return [CLS] + body + [SEP]


def collate(texts):
    width = max(len(t) for t in texts)
    ids = torch.full((len(texts), width), PAD)
    for row, t in enumerate(texts):
        ids[row, : len(t)] = torch.tensor(t)
    return ids


def buckets(seed=5, size=16):
    """Batches of texts of similar length, as a bucketing sampler gives them."""
    g = torch.Generator().manual_seed(seed)
    lengths = [24, 18, 14, 10, 20, 16, 12, 8] * 8
    lengths[45] = 0
    for length in lengths:
        yield collate([text(max(0, length - i % 3), g) for i in range(size if length else 4)])
