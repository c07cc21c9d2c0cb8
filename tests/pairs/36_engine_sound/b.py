"""Engine sounds in functions; weights live in one flat dict with paths as names."""

import torch

import a
from optim import Nesterov, cosine, shrink


def translate(model):
    out = {}
    for name, value in model.state_dict().items():
        path = name.replace(".body.", ".").replace(".", "/")
        if path.endswith("point/weight"):
            value = value[:, :, 0].t()
        elif path == "stem/weight":
            value = value[:, 0].t()
        elif value.dim() == 3:
            value = value[:, 0]
        elif value.dim() == 2:
            value = value.t()
        out[path] = value.contiguous().clone().requires_grad_()
    return out


def depthwise(x, w, b, dilation):
    size = w.shape[1]
    reach = dilation * (size // 2)
    x = torch.nn.functional.pad(x, (0, 0, reach, reach))
    t = x.shape[1] - 2 * reach
    parts = [x[:, i * dilation : i * dilation + t] * w[:, i] for i in range(size)]
    return sum(parts) + b


def hardswish(x):
    return x * torch.clamp(x + 3, 0, 6) / 6


def group_norm(x, gain, shift):
    flat = x.reshape(x.shape[0], -1)
    var, mean = torch.var_mean(flat, dim=1, correction=0)
    x = (x - mean[:, None, None]) / torch.sqrt(var + 1e-5)[:, None, None]
    return x * gain + shift


def separable(p, path, x, dilation):
    y = depthwise(x, p[path + "/depth/weight"], p[path + "/depth/bias"], dilation)
    y = y @ p[path + "/point/weight"] + p[path + "/point/bias"]
    return hardswish(group_norm(y, p[path + "/norm/weight"], p[path + "/norm/bias"]))


def forward(p, wave):
    x = wave.reshape(wave.shape[0], -1, 4) @ p["stem/weight"] + p["stem/bias"]
    for i, dilation in enumerate((1, 2)):
        x = separable(p, f"body/{i}", x, dilation) + x
    x = torch.hstack([x.mean(1), x.max(1).values])
    h = (x @ p["head/0/weight"] + p["head/0/bias"]).clip(-1, 1)
    return h @ p["head/2/weight"] + p["head/2/bias"]


def margin_loss(scores, target):
    right = scores.gather(1, target[:, None])
    gap = torch.relu(1 - right + scores)
    gap = gap.scatter(1, target[:, None], 0.0)
    return (gap.sum(1) / scores.shape[1]).mean()


def main():
    torch.manual_seed(81)
    p = translate(a.Engine())
    opt = Nesterov(list(p.values()), lr=0.05, mu=0.9, decay=1e-3)
    for step in range(4):
        wave, state = a.sounds(step)
        loss = margin_loss(forward(p, wave), state)
        opt.zero_grad()
        loss.backward()
        shrink(list(p.values()), 0.5)
        opt.param_groups[0]["lr"] = 0.05 * cosine(step, 6)
        opt.step()
        print(step, loss.item())


if __name__ == "__main__":
    main()
