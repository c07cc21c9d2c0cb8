import torch


def deal(n, cards=5):
    """Values of the cards in the hand and which of them may be played (at least one)."""
    hand = torch.randn(n, cards)
    allowed = torch.rand(n, cards) < 0.7
    allowed[torch.arange(n), torch.randint(0, cards, (n,))] = True
    return hand, allowed


def score(hand, card):
    value = hand.gather(1, card.unsqueeze(1)).squeeze(1)
    return 1 - (value - 0.5).abs()
