import torch

from detector import SVDD


def usual(n, mix):
    return 1.0 + torch.randn(n, 3) @ mix + 0.05 * torch.randn(n, 16)


def main():
    torch.manual_seed(4)
    mix = torch.randn(3, 16) * 0.5
    model = SVDD()
    model.place(usual(256, mix))
    opt = torch.optim.Adam(model.parameters(), lr=2e-3, weight_decay=1e-5)
    for it in range(100):
        loss = model.distance(usual(48, mix)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if it % 20 == 19:
            with torch.no_grad():
                ok, odd = model.distance(usual(200, mix)), model.distance(1.0 + torch.randn(200, 16))
            print(f"{it + 1}: {loss.item():.4f}  odd ones beyond the 95th percentile "
                  f"{(odd > ok.quantile(0.95)).float().mean():.2f}")


main()
