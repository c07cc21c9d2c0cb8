import torch


def road_graph(nodes=50, degree=8, seed=2):
    """Each crossing is linked with its nearest neighbours and with itself."""
    g = torch.Generator().manual_seed(seed)
    place = torch.rand(nodes, 2, generator=g)
    near = torch.cdist(place, place).topk(degree + 1, largest=False).indices
    adj = torch.zeros(nodes, nodes)
    adj.scatter_(1, near, 1.0)
    adj = torch.maximum(adj, adj.t())
    return adj


def speeds(adj, samples, seed=3):
    g = torch.Generator().manual_seed(seed)
    flow = torch.randn(samples, adj.shape[0], 3, generator=g)
    share = adj / adj.sum(1, keepdim=True)
    y = (share @ flow[..., :1] * 2 - flow[..., 1:2] + share @ (share @ flow[..., 2:])).squeeze(-1)
    return flow, y
