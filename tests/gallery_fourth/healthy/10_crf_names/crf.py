import torch
from torch import nn


class CRF(nn.Module):
    """A linear chain: forbidden transitions have a score of -10000."""

    def __init__(self, tags, forbidden):
        super().__init__()
        self.transitions = nn.Parameter(torch.zeros(tags, tags))
        block = torch.zeros(tags, tags)
        for a, b in forbidden:
            block[a, b] = -10000.0
        self.register_buffer("block", block)

    def forward(self, scores, tags, mask):
        """Minus the log-likelihood; scores (n, t, k), mask (n, t) with the first column all true."""
        rule = self.transitions + self.block
        alpha = scores[:, 0]
        gold = scores[:, 0].gather(1, tags[:, :1]).squeeze(1)
        for t in range(1, scores.shape[1]):
            step = torch.logsumexp(alpha.unsqueeze(2) + rule, 1) + scores[:, t]
            alpha = torch.where(mask[:, t : t + 1], step, alpha)
            here = scores[:, t].gather(1, tags[:, t : t + 1]).squeeze(1) + rule[tags[:, t - 1], tags[:, t]]
            gold = gold + torch.where(mask[:, t], here, torch.zeros_like(here))
        return (torch.logsumexp(alpha, 1) - gold).mean()
