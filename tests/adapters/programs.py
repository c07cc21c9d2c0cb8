"""Programs as people write them in PyTorch: each makes its state, and returns a step and what is to be compared."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable
from typing import Any, Final

import torch
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

Step = Callable[[], torch.Tensor]
Program = Callable[[], tuple[Step, list[torch.Tensor]]]
"""Makes a program anew: one step of it, which returns its loss; and its weights."""

PROGRAMS: Final[dict[str, Program]] = {}


def program(make: Program) -> Program:
    PROGRAMS[make.__name__] = make
    return make


def trained(
    model: nn.Module, loss: Callable[[], torch.Tensor], optimizer: Any = None
) -> tuple[Step, list[torch.Tensor]]:
    """The usual loop."""
    optimizer = optimizer or torch.optim.SGD(model.parameters(), lr=0.05)

    def step() -> torch.Tensor:
        optimizer.zero_grad()
        value = loss()
        value.backward()
        optimizer.step()
        return value

    return step, [*model.parameters(), *model.buffers()]


@program
def perceptron() -> tuple[Step, list[torch.Tensor]]:
    model = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3))
    x, labels = torch.randn(5, 6), torch.tensor([0, 1, 2, 0, 1])
    return trained(model, lambda: functional.cross_entropy(model(x), labels))


@program
def by_hand() -> tuple[Step, list[torch.Tensor]]:
    w = torch.randn(4, 3, requires_grad=True)
    b = torch.zeros(3, requires_grad=True)
    x = torch.randn(5, 4)

    def step() -> torch.Tensor:
        loss = ((torch.tanh(x @ w + b) - 0.5) ** 2).mean()
        loss.backward()
        with torch.no_grad():
            for parameter in (w, b):
                parameter -= 0.1 * parameter.grad
                parameter.grad.zero_()
        return loss

    return step, [w, b]


@program
def convolution() -> tuple[Step, list[torch.Tensor]]:
    model = nn.Sequential(
        nn.Conv2d(2, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(inplace=True), nn.MaxPool2d(2), nn.Dropout(0.3),
        nn.Flatten(), nn.Linear(16, 2),
    )  # fmt: skip
    x = torch.randn(3, 2, 4, 4)
    return trained(model, lambda: model(x).square().sum())


@program
def transformer() -> tuple[Step, list[torch.Tensor]]:
    model = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    x = torch.randn(2, 5, 8)
    return trained(model, lambda: model(x).pow(2).mean(), torch.optim.AdamW(model.parameters(), lr=1e-2))


@program
def recurrent() -> tuple[Step, list[torch.Tensor]]:
    model = nn.LSTM(3, 4, batch_first=True)
    x = torch.randn(2, 5, 3)
    return trained(model, lambda: model(x)[0].sum(), torch.optim.Adam(model.parameters(), lr=1e-2))


@program
def in_place() -> tuple[Step, list[torch.Tensor]]:
    w = nn.Parameter(torch.randn(3, 4))
    out = torch.zeros(3, 4)

    def loss() -> torch.Tensor:
        y = w * 2
        y[0] += 1
        y[:, 1].mul_(3)
        y.clamp_(-2, 2)
        with torch.no_grad():
            torch.add(y, 1, out=out)
        z = y.neg()
        z += w
        return (z.sigmoid_() + out).sum()

    return trained(nn.ParameterList([w]), loss)


@program
def views() -> tuple[Step, list[torch.Tensor]]:
    w = nn.Parameter(torch.randn(4, 6))

    def loss() -> torch.Tensor:
        first, second = w.split(2)
        rows = w.unbind(0)
        y = first.t().reshape(-1) * second.transpose(0, 1).reshape(-1)
        z = torch.zeros(2, 6)
        view = z.view(-1)[2:8]
        view.add_(rows[0])
        return y.sum() + z.mul(w[:2]).sum() + w.T.diagonal().sum() + w.expand(2, 4, 6).mean()

    return trained(nn.ParameterList([w]), loss)


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx: Any, g: torch.Tensor) -> torch.Tensor:
        (x,) = ctx.saved_tensors
        return g * 3 * x.square()


@program
def custom_function() -> tuple[Step, list[torch.Tensor]]:
    w = nn.Parameter(torch.randn(3))
    return trained(nn.ParameterList([w]), lambda: Cube.apply(w.tanh()).sum())


@program
def checkpointed() -> tuple[Step, list[torch.Tensor]]:
    block = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Dropout(0.5))
    head = nn.Linear(4, 1)
    model = nn.ModuleList([block, head])
    x = torch.randn(3, 4)
    return trained(model, lambda: head(checkpoint(block, x, use_reentrant=False)).sum())


@program
def checkpointed_reentrant() -> tuple[Step, list[torch.Tensor]]:
    block = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Dropout(0.5))
    w = nn.Parameter(torch.randn(3, 4))
    model = nn.ModuleList([block, nn.ParameterList([w])])
    return trained(model, lambda: checkpoint(block, w, use_reentrant=True).sum())


@program
def without_gradients() -> tuple[Step, list[torch.Tensor]]:
    model = nn.Linear(3, 2)
    average = torch.zeros(2, 3)
    x = torch.randn(4, 3)

    def loss() -> torch.Tensor:
        with torch.no_grad():
            average.mul_(0.9).add_(model.weight, alpha=0.1)
        with torch.inference_mode():
            model(x).sum().item()
        return (model(x) - functional.linear(x, average).detach()).abs().sum()

    step, weights = trained(model, loss)
    return step, [*weights, average]


@program
def hooked() -> tuple[Step, list[torch.Tensor]]:
    model = nn.Linear(3, 2)
    model.weight.register_hook(lambda g: g * 0.5)
    model.register_full_backward_hook(lambda module, grad_input, grad_output: None)
    x = torch.randn(4, 3)

    def loss() -> torch.Tensor:
        y = model(x)
        y.register_hook(lambda g: g.clamp(-1, 1))
        y.retain_grad()
        return (y * y).sum()

    return trained(model, loss)


@program
def second_order() -> tuple[Step, list[torch.Tensor]]:
    model = nn.Sequential(nn.Linear(3, 4), nn.Softplus(), nn.Linear(4, 1))
    x = torch.randn(5, 3, requires_grad=True)

    def loss() -> torch.Tensor:
        y = model(x).sum()
        (g,) = torch.autograd.grad(y, x, create_graph=True)
        return ((g.norm(2, dim=1) - 1) ** 2).mean() + y * 0.01

    return trained(model, loss)


@program
def retained() -> tuple[Step, list[torch.Tensor]]:
    w = nn.Parameter(torch.randn(3))

    def step() -> torch.Tensor:
        optimizer.zero_grad()
        h = w.exp()
        one, two = h.sum(), (h * h).sum()
        one.backward(retain_graph=True)
        two.backward()
        torch.autograd.backward([w.sum(), w.sin().sum()])
        optimizer.step()
        return one + two

    optimizer = torch.optim.RMSprop([w], lr=0.01)
    return step, [w]


@program
def shared_weights() -> tuple[Step, list[torch.Tensor]]:
    w = nn.Parameter(torch.randn(3, 3) * 0.5)
    x = torch.randn(6, 3, 1)

    def loss() -> torch.Tensor:
        h = torch.zeros(3, 1)
        for each in x:
            h = torch.tanh(w @ h + each)
        return h.sum()

    return trained(nn.ParameterList([w]), loss, torch.optim.Adam([w], lr=0.01, fused=True))


@program
def embedding() -> tuple[Step, list[torch.Tensor]]:
    model = nn.Embedding(10, 4, sparse=True)
    index = torch.tensor([[1, 2], [2, 5]])
    return trained(model, lambda: model(index).pow(2).sum())


@program
def several_outputs() -> tuple[Step, list[torch.Tensor]]:
    w = nn.Parameter(torch.randn(4, 4))

    def loss() -> torch.Tensor:
        values, _ = w.sort(dim=1)
        top = w.topk(2, dim=0)
        largest, _ = w.max(dim=1)
        a, _, c = torch.chunk(w.flatten()[:12], 3)
        return (values[:, 0] + largest).sum() + top.values.sum() + (a * c).sum() + torch.var_mean(w)[0]

    return trained(nn.ParameterList([w]), loss)


@program
def clipped() -> tuple[Step, list[torch.Tensor]]:
    model = nn.Sequential(nn.Linear(3, 3), nn.LayerNorm(3), nn.GELU(), nn.Linear(3, 1))
    x = torch.randn(4, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, foreach=True)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 3, 0.5)

    def step() -> torch.Tensor:
        optimizer.zero_grad(set_to_none=False)
        loss = model(x).sum()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()
        schedule.step()
        return loss

    return step, list(model.parameters())


@program
def closure() -> tuple[Step, list[torch.Tensor]]:
    w = nn.Parameter(torch.randn(3))
    optimizer = torch.optim.LBFGS([w], lr=0.1, max_iter=3)

    def evaluate() -> torch.Tensor:
        optimizer.zero_grad()
        loss = (w - 1).pow(2).sum()
        loss.backward()
        return loss

    return lambda: torch.as_tensor(optimizer.step(evaluate)), [w]


@program
def threads() -> tuple[Step, list[torch.Tensor]]:
    models = [nn.Linear(3, 1), nn.Linear(3, 1)]
    x = torch.randn(4, 3)

    def step() -> torch.Tensor:
        found: dict[int, torch.Tensor] = {}

        def work(number: int) -> None:
            loss = models[number](x).square().sum()
            loss.backward()
            found[number] = loss

        workers = [threading.Thread(target=work, args=(number,)) for number in range(2)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        return found[0].detach() + found[1].detach()

    return step, [p for model in models for p in model.parameters()]


@program
def half_precision() -> tuple[Step, list[torch.Tensor]]:
    model = nn.Linear(4, 4)
    x = torch.randn(3, 4)

    def loss() -> torch.Tensor:
        with torch.autocast("cpu", torch.bfloat16):
            y = model(x).relu()
        return y.float().sum()

    return trained(model, loss)


@program
def transforms() -> tuple[Step, list[torch.Tensor]]:
    w = torch.randn(3, 3)
    x = torch.randn(5, 3)

    def step() -> torch.Tensor:
        g = torch.func.grad(lambda w: (x @ w).tanh().sum())(w)
        per_sample = torch.func.vmap(lambda row: (row @ w).sin().sum())(x)
        w.sub_(0.01 * g)
        return per_sample.sum()

    return step, [w]


@program
def attention_without_gradients() -> tuple[Step, list[torch.Tensor]]:
    model = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 2).eval()
    x = torch.randn(2, 5, 8)

    def step() -> torch.Tensor:
        with torch.no_grad():
            return model(x).sum()

    return step, list(model.parameters())


@program
def last_states() -> tuple[Step, list[torch.Tensor]]:
    """The last state of one recurrent layer goes into the next, and its outputs nowhere."""
    embedding, encoder, decoder = nn.Embedding(10, 4), nn.GRU(4, 4, num_layers=2), nn.LSTM(4, 4)
    models = nn.ModuleList([embedding, encoder, decoder])

    def loss() -> torch.Tensor:
        _, hidden = encoder(embedding(torch.randint(0, 10, (5, 2))))
        _, (_, cell) = decoder(torch.zeros(3, 2, 4), (hidden[-1:], hidden[:1]))
        return functional.mse_loss(cell, torch.ones(1, 2, 4))

    return trained(models, loss)


@program
def policy() -> tuple[Step, list[torch.Tensor]]:
    """A distribution computes when it is made; the compiler, once it is in memory, would let it check nothing."""
    actor, critic = nn.Linear(4, 3), nn.Linear(4, 1)
    models = nn.ModuleList([actor, critic])

    def loss() -> torch.Tensor:
        states, rewards = torch.randn(6, 4), torch.randn(6)
        chances = torch.distributions.Categorical(logits=actor(states), validate_args=True)
        actions = chances.sample()
        values = critic(states).squeeze(-1)
        gain = chances.log_prob(actions) * (rewards - values.detach()) + 0.01 * chances.entropy()
        return functional.smooth_l1_loss(values, rewards) - gain.mean()

    return trained(models, loss)


@program
def packed() -> tuple[Step, list[torch.Tensor]]:
    """The states of a packed batch lie apart in memory: a layer makes its result of them by writing to it."""
    encoder, head = nn.GRU(3, 4, bidirectional=True, batch_first=True), nn.Linear(8, 1)
    lengths = torch.tensor([5, 3, 1])

    def loss() -> torch.Tensor:
        batch = nn.utils.rnn.pack_padded_sequence(torch.randn(3, 5, 3), lengths, batch_first=True)
        states, _ = nn.utils.rnn.pad_packed_sequence(encoder(batch)[0], batch_first=True)
        mask = torch.arange(5)[None] < lengths[:, None]
        return (head(states).squeeze(-1) * mask).sum() / mask.sum()

    return trained(nn.ModuleList([encoder, head]), loss)


@program
def resumed() -> tuple[Step, list[torch.Tensor]]:
    """In each step the program is saved and taken up again."""
    model = nn.Linear(4, 2)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 5)
    parts = model, optimizer, schedule
    x = torch.randn(3, 4)

    def step() -> torch.Tensor:
        optimizer.zero_grad()
        value = model(x).square().sum()
        value.backward()
        optimizer.step()
        schedule.step()
        file = io.BytesIO()
        torch.save([each.state_dict() for each in parts], file)
        file.seek(0)
        for each, state in zip(parts, torch.load(file, weights_only=True), strict=True):
            each.load_state_dict(state)
        return value

    return step, list(model.parameters())
