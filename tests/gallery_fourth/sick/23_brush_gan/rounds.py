import torch
from torch.nn import functional as F


def real_loss(score):
    return F.binary_cross_entropy_with_logits(score, torch.ones_like(score))


def fake_loss(score):
    return F.binary_cross_entropy_with_logits(score, torch.zeros_like(score))


class Rounds:
    def __init__(self, painter, critic, lr):
        self.painter, self.critic = painter, critic
        self.opt_p = torch.optim.Adam(painter.parameters(), lr=lr, betas=(0.5, 0.99))
        self.opt_c = torch.optim.Adam(critic.parameters(), lr=lr, betas=(0.5, 0.99))

    def warm_up(self, real, z):
        loss = real_loss(self.critic(real)) + fake_loss(self.critic(self.painter(z).detach()))
        self.opt_c.zero_grad()
        loss.backward()
        self.opt_c.step()
        return loss.item()

    def play(self, real, z):
        fake = self.painter(z)
        score = self.critic(fake)
        loss_c = real_loss(self.critic(real)) + fake_loss(score)
        self.opt_c.zero_grad()
        loss_c.backward(retain_graph=True)
        self.opt_c.step()

        loss_p = real_loss(score)
        self.opt_p.zero_grad()
        loss_p.backward()
        self.opt_p.step()
        return loss_c.item(), loss_p.item()
