import torch


class Callback:
    def on_batch_end(self, trainer):
        pass

    def on_epoch_end(self, trainer):
        pass


class Printer(Callback):
    def on_epoch_end(self, trainer):
        rate = trainer.optimizer.param_groups[0]["lr"]
        print(f"epoch {trainer.epoch}: loss {trainer.mean:.4f} lr {rate:.2g}")


class Annealer(Callback):
    """Halves the learning rate every epoch."""

    def __init__(self, optimizer):
        self.scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5)

    def on_batch_end(self, trainer):
        self.scheduler.step()
