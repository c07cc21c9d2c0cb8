"""A trainer in the manner of the big ones."""
import torch


class Module(torch.nn.Module):
    def configure_optimizers(self):
        raise NotImplementedError

    def training_step(self, batch):
        raise NotImplementedError


class Trainer:
    def __init__(self, max_epochs):
        self.max_epochs = max_epochs

    def validate(self, module, batches):
        module.eval()
        with torch.no_grad():
            losses = [module.training_step(b).item() for b in batches]
        module.train()
        return sum(losses) / len(losses)

    def fit(self, module, train, valid):
        conf = module.configure_optimizers()
        optimizer, scheduler = conf["optimizer"], conf["lr_scheduler"]
        for epoch in range(self.max_epochs):
            for batch in train:
                optimizer.zero_grad()
                loss = module.training_step(batch)
                loss.backward()
                optimizer.step()
            val = self.validate(module, valid)
            scheduler.step(val)
            print(f"epoch {epoch:2d} train {loss.item():.4f} val {val:.4f}")
