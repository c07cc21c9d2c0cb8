import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)

source = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
x = torch.randn(8, 4)
state = {k: v.clone() for k, v in source.state_dict().items()}
net = nn.ModuleDict({"a": nn.Linear(4, 8), "b": nn.Linear(8, 2)})
net.load_state_dict(
    {"a.weight": state["0.weight"], "a.bias": state["0.bias"], "b.weight": state["2.weight"], "b.bias": state["2.bias"]}
)
loss = net["b"](F.relu(net["a"](x))).pow(2).mean()
loss.backward()
