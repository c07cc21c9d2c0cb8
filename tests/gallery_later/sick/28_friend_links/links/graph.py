import torch


def community_graph(n, columns, groups=4):
    group = torch.randint(0, groups, (n,))
    same = group[:, None] == group[None, :]
    upper = (torch.rand(n, n) < torch.where(same, 0.25, 0.01)).triu(1)
    adjacency = (upper | upper.t()).float()
    x = torch.randn(n, columns)
    x[torch.arange(n), group] += 1.5
    return adjacency, x, upper.nonzero().t()


def negative_edges(adjacency, count):
    pairs = torch.randint(0, len(adjacency), (2, 3 * count))
    free = (adjacency[pairs[0], pairs[1]] == 0) & (pairs[0] != pairs[1])
    return pairs[:, free][:, :count]
