"""Reading digit strips with a convolutional and recurrent net and CTC; padded, packed sequences."""
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


class Reader(nn.Module):
    def __init__(self, glyphs, height=6, hidden=32):
        super().__init__()
        self.conv = nn.Conv1d(height, 24, 3, padding=1)
        self.norm = nn.GroupNorm(4, 24)
        self.rnn = nn.GRU(24, hidden, bidirectional=True, batch_first=True)
        self.out = nn.Linear(2 * hidden, glyphs + 1)

    def forward(self, strip, widths):
        h = torch.relu(self.norm(self.conv(strip))).transpose(1, 2)
        packed = pack_padded_sequence(h, widths, batch_first=True, enforce_sorted=False)
        h, _ = pad_packed_sequence(self.rnn(packed)[0], batch_first=True)
        return self.out(h).log_softmax(-1)


class Strips:
    def __init__(self, glyphs=4, height=6, width=4):
        self.glyph = (torch.rand(glyphs, height, width) > 0.5).float()
        self.glyphs, self.height, self.width = glyphs, height, width

    def batch(self, n, longest=3):
        lengths = torch.randint(1, longest + 1, (n,))
        text = torch.randint(0, self.glyphs, (n, longest))
        strips = torch.zeros(n, self.height, longest * self.width)
        for i in range(n):
            line = torch.cat([self.glyph[g] for g in text[i, : lengths[i]]], dim=1)
            strips[i, :, : line.shape[1]] = line
        return strips + 0.1 * torch.randn_like(strips), lengths * self.width, text + 1, lengths


def main():
    torch.manual_seed(40)
    data = Strips()
    net = Reader(data.glyphs)
    opt = torch.optim.Adam(net.parameters(), lr=1e-2)
    ctc = nn.CTCLoss(blank=0, zero_infinity=True)
    for step in range(80):
        strips, widths, text, lengths = data.batch(24)
        logp = net(strips, widths)
        loss = ctc(logp.transpose(0, 1), text, widths, lengths)
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 5.0)
        opt.step()
        if step % 20 == 19:
            print(f"step {step + 1} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
