class Engine:
    def __init__(self, net, optimizer, criterion, callbacks):
        self.net, self.optimizer, self.criterion = net, optimizer, criterion
        self.callbacks = callbacks
        self.losses = []

    def call(self, event):
        for callback in self.callbacks:
            getattr(callback, event, lambda engine: None)(self)

    def fit(self, loader, epochs):
        for self.epoch in range(epochs):
            self.net.train()
            self.losses.clear()
            for x, y in loader:
                loss = self.criterion(self.net(x), y)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                self.losses.append(loss.item())
                self.call("on_batch_end")
            self.call("on_epoch_end")
