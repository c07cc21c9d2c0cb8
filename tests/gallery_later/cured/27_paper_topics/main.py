"""Topics of papers in a citation graph, functional training on the labelled nodes."""
import torch
import torch.nn.functional as F
from torch import nn


class GCN(nn.Module):
    def __init__(self, columns, width, topics):
        super().__init__()
        self.w1 = nn.Linear(columns, width)
        self.w2 = nn.Linear(width, topics)

    def forward(self, a, x):
        h = F.relu(a @ self.w1(x))
        return a @ self.w2(h)

    def predict_proba(self, a, x):
        return self.forward(a, x).softmax(dim=-1)


def citations(n=200, topics=5):
    topic = torch.randint(0, topics, (n,))
    same = topic[:, None] == topic[None, :]
    links = torch.rand(n, n) < torch.where(same, 0.06, 0.008)
    a = ((links | links.t()) & ~torch.eye(n, dtype=torch.bool)).float() + torch.eye(n)
    degree = a.sum(1).rsqrt()
    words = 1.2 * torch.randn(n, 16)
    words[torch.arange(n), topic] += 1.5
    return degree[:, None] * a * degree[None, :], words, topic


def run(steps=80):
    torch.manual_seed(127)
    a, x, topic = citations()
    labelled = torch.rand(len(topic)) < 0.5
    model = GCN(16, 24, 5)
    opt = torch.optim.SGD(model.parameters(), lr=0.5)

    def step():
        probs = model(a, x)
        loss = F.cross_entropy(probs[labelled], topic[labelled])
        opt.zero_grad()
        loss.backward()
        opt.step()
        right = (probs.argmax(1) == topic)[~labelled].float().mean()
        return loss.item(), right.item()

    for i in range(1, steps + 1):
        loss, right = step()
        if i % 16 == 0:
            print(f"step {i} loss {loss:.4f} unlabelled right {right:.3f}")


run()
