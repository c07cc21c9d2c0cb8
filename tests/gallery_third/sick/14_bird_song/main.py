"""Marks for each note of a song: does the same note come again within the next two?"""
import torch
import torch.nn.functional as F

from song import SongNet

NOTES, LENGTH = 5, 18


def songs(n):
    song = torch.randint(NOTES, (n, LENGTH))
    again = torch.zeros(n, LENGTH, dtype=torch.long)
    for ahead in (1, 2):
        again[:, :-ahead] |= (song[:, ahead:] == song[:, :-ahead]).long()
    return song, again


def main():
    torch.manual_seed(14)
    net = SongNet(NOTES)
    optim = torch.optim.Adam(net.parameters(), lr=1e-2)
    for step in range(1, 101):
        song, again = songs(32)
        scores = net(song)
        loss = F.cross_entropy(scores.flatten(0, 1), again.flatten())
        optim.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 5.0)
        optim.step()
        if step % 20 == 0:
            hits = (scores.argmax(-1) == again).float().mean()
            print(f"step {step} loss {loss.item():.4f} marks right {hits:.3f}")


if __name__ == "__main__":
    main()
