from types import SimpleNamespace

config = SimpleNamespace(
    steps=40,
    width=64,
    batch=64,
    optimizer="Adam",
    lr=0.5,
    iterations=100,
    seed=17,
)
