class Trainer:
    def __init__(self, model, optimizer, criterion, callbacks):
        self.model, self.optimizer, self.criterion = model, optimizer, criterion
        self.callbacks = callbacks
        self.epoch, self.mean = 0, float("nan")

    def fit(self, loader, epochs):
        for self.epoch in range(1, epochs + 1):
            self.model.train()
            losses = []
            for x, y in loader:
                self.optimizer.zero_grad()
                loss = self.criterion(self.model(x), y)
                loss.backward()
                self.optimizer.step()
                losses.append(loss.item())
                for c in self.callbacks:
                    c.on_batch_end(self)
            self.mean = sum(losses) / len(losses)
            for c in self.callbacks:
                c.on_epoch_end(self)
