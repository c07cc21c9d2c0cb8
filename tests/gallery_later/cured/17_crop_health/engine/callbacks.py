class Schedule:
    def __init__(self, scheduler):
        self.scheduler = scheduler

    def on_epoch_end(self, engine):
        self.scheduler.step()


class Printer:
    def on_epoch_end(self, engine):
        print(f"epoch {engine.epoch + 1}  loss {sum(engine.losses) / len(engine.losses):.4f}")
