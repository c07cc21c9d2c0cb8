"""Beacons located from distances to receivers; positions in metres on the national grid."""
import torch

from survey.field import measure, true_positions
from survey.solver import Positions


def main(steps=80, lr=0.18):
    torch.manual_seed(116)
    receivers, beacons = true_positions()
    distance = measure(receivers, beacons)
    guess = beacons + 5 * torch.randn_like(beacons)
    model = Positions(guess.float())
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    for step in range(1, steps + 1):
        loss = (model(receivers) - distance).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print(f"{step:3d} mean square {loss.item():9.4f}  residual {loss.sqrt().item():.2f} m")


main()
