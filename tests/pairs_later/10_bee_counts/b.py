"""The model of the hive with the equations of the paper."""

import torch
from a import STATE, Hive, weather

torch.manual_seed(10)
hive = Hive()
w = {name: p.detach().clone() for name, p in hive.named_parameters()}
Wr, Wz, Wn = (part.requires_grad_() for part in w["gru.weight_ih_l0"].clone().chunk(3))
Ur, Uz, Un = (part.requires_grad_() for part in w["gru.weight_hh_l0"].clone().chunk(3))
bir, biz, bin_ = (part.requires_grad_() for part in w["gru.bias_ih_l0"].clone().chunk(3))
bhr, bhz, bhn = (part.requires_grad_() for part in w["gru.bias_hh_l0"].clone().chunk(3))
out, out_bias = w["rate.weight"].requires_grad_(), w["rate.bias"].requires_grad_()
params = [Wr, Wz, Wn, Ur, Uz, Un, bir, biz, bin_, bhr, bhz, bhn, out, out_bias]


def forward(x):
    h = x.new_zeros(len(x), STATE)
    for x_t in x.unbind(1):
        r = torch.sigmoid(x_t @ Wr.T + bir + h @ Ur.T + bhr)
        z = torch.sigmoid(x_t @ Wz.T + biz + h @ Uz.T + bhz)
        n = torch.tanh(x_t @ Wn.T + bin_ + (r * h) @ Un.T + bhn)
        h = (1 - z) * n + z * h
    return (h @ out.T + out_bias)[:, 0]


optimizer = torch.optim.SGD(params, lr=0.05, nesterov=True, momentum=0.8)
for step in range(4):
    x, bees = weather(step)
    log_rate = forward(x)
    loss = (log_rate.exp() - bees * log_rate).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"{step} {loss.item():.6f}")
