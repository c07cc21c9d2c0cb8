"""Policy gradient on a walk, and a Gaussian policy, with distributions."""

import collections
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical, Normal, kl_divergence
from torch.utils.data import TensorDataset, DataLoader, WeightedRandomSampler

torch.manual_seed(0)
np.random.seed(0)


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.1), nn.Linear(16, 16), nn.Tanh())
        self.actor, self.critic = nn.Linear(16, 3), nn.Linear(16, 1)

    def forward(self, x):
        h = self.body(x)
        return Categorical(logits=self.actor(h)), self.critic(h).squeeze(-1)


def step(s, a):
    s = s + torch.tensor([a.item() - 1.0, 0.1])
    return s, -abs(s[0].item()), s[1].item() > 1


policy = Policy()
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
history = collections.deque(maxlen=10)
for episode in range(8):
    s, logp, values, rewards, ent = torch.tensor([2.0, 0.0]), [], [], [], []
    done = False
    while not done:
        dist, v = policy(s)
        a = dist.sample()
        logp.append(dist.log_prob(a))
        values.append(v)
        ent.append(dist.entropy())
        s, r, done = step(s, a)
        rewards.append(r)
    R, returns = 0, []
    for r in rewards[::-1]:
        R = r + 0.99 * R
        returns.insert(0, R)
    returns = torch.tensor(returns)
    returns = (returns - returns.mean()) / (returns.std() + 1e-6)
    values = torch.stack(values)
    adv = returns - values.detach()
    loss = (
        -(torch.stack(logp) * adv).sum()
        + F.smooth_l1_loss(values, returns, reduction="sum")
        - 0.01 * torch.stack(ent).sum()
    )
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(sum(rewards))
print(len(history), np.isfinite(np.mean(history)))

p = Normal(torch.zeros(3), torch.ones(3))
q = Normal(torch.tensor([0.0, 1.0, 2.0], requires_grad=True), torch.tensor([1.0, 2.0, 0.5]))
k = kl_divergence(p, q).sum()
k.backward()
print(k.item(), q.loc.grad)
print(
    q.rsample((2,)).shape,
    q.log_prob(torch.ones(3)).detach(),
    p.entropy(),
    Categorical(probs=torch.tensor([0.2, 0.3, 0.5])).probs,
)

x = torch.linspace(-2, 2, 90).unsqueeze(1)
y = torch.sin(2 * x) + 0.1 * torch.cos(9 * x)
loader = DataLoader(TensorDataset(x, y), batch_size=16, sampler=WeightedRandomSampler(torch.ones(90), 90))
net = nn.Sequential(collections.OrderedDict([("a", nn.Linear(1, 24)), ("act", nn.SiLU()), ("b", nn.Linear(24, 1))]))
opt = torch.optim.RMSprop(net.parameters(), lr=5e-3)
sched = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, patience=1)
for epoch in range(5):
    total = 0.0
    for xb, yb in loader:
        opt.zero_grad()
        l = nn.MSELoss()(net(xb), yb)
        l.backward()
        opt.step()
        total += l.item() * len(xb)
    sched.step(total)
print(total < 90)
w = net.a.weight
print(
    w.shape,
    w.T.shape,
    w.view(-1)[:3].shape,
    w.data_ptr() == w.detach().data_ptr(),
    isinstance(w, torch.Tensor),
    isinstance(w, nn.Parameter),
)
emb = nn.EmbeddingBag(10, 4, mode="sum")
print(emb(torch.tensor([1, 2, 4, 5]), torch.tensor([0, 2])).shape)
with torch.no_grad():
    ema = {k: v.clone() for k, v in net.state_dict().items()}
    for k, v in net.state_dict().items():
        ema[k].mul_(0.9).add_(v, alpha=0.1)
a = torch.randn(5, 3)
print(
    torch.einsum("ij,kj->ik", a, a).shape,
    torch.cdist(a, a).shape,
    a.std(0, correction=0).shape,
    torch.allclose(a @ a.T, a.mm(a.t())),
)
print(
    torch.cuda.is_available(),
    torch.backends.mps.is_available(),
    torch.get_default_dtype(),
    torch.finfo(torch.float32).eps,
)
hooks = []
h = net.a.register_forward_hook(lambda m, i, o: hooks.append(o.shape))
net(x)
h.remove()
print(hooks)
e = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
print(torch.linalg.eigvals(e @ e.T).real.sort()[0])
