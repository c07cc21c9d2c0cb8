"""Ratings of films by matrix factorisation."""
import torch
from torch import nn

from films.table import FIRST_USER, ratings


class Factors(nn.Module):
    def __init__(self, users, films, rank=6):
        super().__init__()
        self.user = nn.Embedding(users, rank)
        self.film = nn.Embedding(films, rank)
        self.user_bias = nn.Embedding(users, 1)
        for e in (self.user, self.film):
            nn.init.normal_(e.weight, std=0.4)
        nn.init.zeros_(self.user_bias.weight)

    def forward(self, user, film):
        return (self.user(user) * self.film(film)).sum(-1) + self.user_bias(user).squeeze(-1)


def main(epochs=8):
    torch.manual_seed(136)
    table = ratings(4000)
    user = (table[:, 0] - FIRST_USER).long()
    film, stars = table[:, 1].long(), table[:, 2].float()
    model = Factors(190, 40)
    opt = torch.optim.Adam(model.parameters(), lr=3e-2)
    for epoch in range(epochs):
        total = 0.0
        for rows in torch.randperm(len(stars)).split(500):
            loss = nn.functional.mse_loss(model(user[rows], film[rows]), stars[rows])
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(rows)
        print(f"epoch {epoch + 1} mse {total / len(stars):.4f}")


main()
