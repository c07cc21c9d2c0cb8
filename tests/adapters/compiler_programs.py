"""Programs whose graphs break and that are compiled more than once, each for other reasons."""

PROGRAMS = {
    "printed": """
        def step(x):
            y = x.sin()
            print(end="")
            return y.cos()

        compiled = compile(step)
        for _ in range(3):
            compiled(torch.ones(3))
        """,
    "branched": """
        def step(x):
            y = x * 2
            if y.sum() > 0:
                return y.exp()
            return y

        compiled = compile(step)
        compiled(torch.ones(3))
        compiled(-torch.ones(3))
        """,
    "read": """
        def step(x):
            size = x.sum().item()
            return x * size

        compiled = compile(step)
        for factor in (1.0, 2.0, 3.0):
            compiled(torch.ones(3) * factor)
        """,
    "in_a_loop": """
        def step(x):
            for _ in range(2):
                x = x.sin()
                torch._dynamo.graph_break()
            return x

        compiled = compile(step)
        compiled(torch.ones(3))
        """,
    "attribute": """
        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = torch.nn.Linear(3, 3)
                self.scale = 1

            def forward(self, x):
                return self.linear(x) * self.scale

        model = Net()
        compiled = compile(model)
        for scale in (1, 2, 3):
            model.scale = scale
            compiled(torch.ones(2, 3)).sum().backward()
        """,
    "sizes": """
        def step(x):
            return x.relu() + x.shape[0]

        compiled = compile(step)
        compiled(torch.ones(3, 4))
        compiled(torch.ones(5, 4))
        compiled(torch.ones(5, 4, dtype=torch.float64))
        compiled(torch.ones(5))
        """,
    "words": """
        def step(x, word):
            return x * len(word)

        compiled = compile(step)
        for count in range(1, 11):
            compiled(torch.ones(3), "a" * count)
        """,
    "modes": """
        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.layers = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Dropout(0.5))

            def forward(self, x):
                return self.layers(x)

        model = Net()
        compiled = compile(model)
        compiled(torch.ones(2, 3)).sum().backward()
        model.eval()
        compiled(torch.ones(2, 3))
        with torch.no_grad():
            compiled(torch.ones(2, 3))
        """,
    "called_plainly": """
        @torch.compiler.disable
        def plainly(x):
            return x * 3

        def inner(x):
            return plainly(x.tanh()) + 1

        def step(x):
            return inner(x).sum() + torch.nonzero(x).sum()

        compiled = compile(step)
        compiled(torch.ones(3, requires_grad=True)).backward()
        """,
    "global_name": """
        FACTORS = {"now": 1}

        def step(x):
            return x * FACTORS["now"]

        compiled = compile(step)
        for factor in (1, 2, 3):
            FACTORS["now"] = factor
            compiled(torch.ones(3))
        """,
}
"""By name; each finds `torch`, and `compile` with a backend."""
