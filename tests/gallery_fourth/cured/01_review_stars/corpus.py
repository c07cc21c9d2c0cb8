import torch

POSITIVE = ["great", "love", "perfect", "solid", "fast"]
NEUTRAL = ["okay", "average", "fine", "usual", "plain"]
NEGATIVE = ["junk", "refund", "slow", "cheap", "awful"]
FILLER = ["the", "it", "was", "a", "box", "came", "with", "phone", "and", "i"]
VOCAB = {w: i + 1 for i, w in enumerate(POSITIVE + NEUTRAL + NEGATIVE + FILLER)}


def write_reviews(n, gen):
    banks = [NEGATIVE, NEUTRAL, POSITIVE]
    stars = torch.randint(3, (n,), generator=gen)
    reviews = []
    for star in stars.tolist():
        picks = torch.randint(5, (3,), generator=gen).tolist()
        noise = torch.randint(len(FILLER), (7,), generator=gen).tolist()
        reviews.append([banks[star][i] for i in picks] + [FILLER[i] for i in noise])
    return reviews, stars


def encode(reviews):
    return torch.tensor([[VOCAB[w] for w in words] for words in reviews])
