import torch
import torch.nn.functional as F

from pointer import Pointer


def main():
    torch.manual_seed(240)
    net = Pointer()
    opt = torch.optim.Adam(net.parameters(), lr=6e-3)
    for step in range(1, 101):
        numbers = torch.rand(48, 6)
        order = numbers.argsort(1)
        logp = net(numbers, order)
        loss = F.nll_loss(logp.flatten(0, 1), order.flatten())
        opt.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()
        if step % 20 == 0:
            net.eval()
            with torch.no_grad():
                found = net(numbers).argmax(-1)
            net.train()
            print(f"step {step} loss {loss.item():.4f} sorted {(found == order).all(1).float().mean().item():.2f}")


main()
