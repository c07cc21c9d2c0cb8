import torch.nn.functional as F


class Trainer:
    def __init__(self, net, opt, schedule, pieces):
        self.net, self.opt, self.schedule, self.pieces = net, opt, schedule, pieces
        self.updates = 0

    def run(self, batches):
        self.opt.zero_grad()
        total = 0.0
        for i, (x, y) in enumerate(batches, 1):
            loss = F.cross_entropy(self.net(x), y) / self.pieces
            loss.backward()
            total += loss.item()
            if i % self.pieces == 0:
                self.update()
                if self.updates % 5 == 0:
                    print(f"update {self.updates} loss {total:.4f} lr {self.schedule.get_last_lr()[0]:.4f}")
                total = 0.0

    def update(self):
        self.opt.step()
        self.schedule.step()
        self.opt.zero_grad()
        self.updates += 1
