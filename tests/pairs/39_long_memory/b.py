"""The same memory as a recurrence, for inference a token at a time; trained here through time."""

import torch
import torch.nn.functional as F

import a


class Memory(torch.nn.Module):
    def __init__(self, layer, norm):
        super().__init__()
        self.norm = norm
        self.wide = torch.nn.Parameter(torch.cat([w.weight.data for w in (layer.q, layer.k, layer.v, layer.g)]))
        self.gate_bias = torch.nn.Parameter(layer.g.bias.data.clone())
        self.out = layer.o
        self.gamma = layer.gamma
        self.heads = layer.heads

    def step(self, x, state):
        n, d = x.shape
        q, k, v, g = (self.norm(x) @ self.wide.t()).split(d, dim=1)
        q, k, v = (y.view(n, self.heads, -1) for y in (q, k, v))
        state = self.gamma[:, None, None] * state + k[..., :, None] * v[..., None, :]
        y = torch.einsum("nhk,nhkv->nhv", q, state)
        y = y / torch.sqrt(y.pow(2).mean(-1, keepdim=True) + 1e-3)
        g = g + self.gate_bias
        y = y.reshape(n, d) * (g * torch.sigmoid(g))
        return x + self.out(y), state


class Stream(torch.nn.Module):
    def __init__(self, source):
        super().__init__()
        self.embed = source.embed
        self.memories = torch.nn.ModuleList(map(Memory, source.layers, source.norms))
        self.head = source.out

    def forward(self, ids):
        size = self.embed.embedding_dim // 2
        states = [torch.zeros(ids.shape[0], 2, size, size) for _ in self.memories]
        logits = []
        for token in ids.t():
            x = self.embed(token)
            for i, memory in enumerate(self.memories):
                x, states[i] = memory.step(x, states[i])
            logits.append(self.head(x))
        return torch.stack(logits, dim=1)


def main():
    torch.manual_seed(65)
    model = Stream(a.Recall())
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(2):
        x, y = a.strings(step)
        logp = model(x).log_softmax(dim=2)
        loss = F.nll_loss(logp.transpose(1, 2), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(step, loss.item())


if __name__ == "__main__":
    main()
