import os

KINDS = ["drill", "hammer", "pliers", "saw"]


def listing(n):
    """Paths as the archive has them."""
    return [os.path.join("photos", "train", KINDS[(7 * i) % 4], f"{i:04d}.png") for i in range(n)]


def kind_of(path):
    parts = path.split(os.sep)
    return parts[-3]


def label_encoder(paths):
    names = sorted({kind_of(p) for p in paths})
    return {name: i for i, name in enumerate(names)}
