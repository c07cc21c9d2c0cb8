import torch.nn.functional as F


def joint_loss(wear, kind, batch):
    _, wear_true, kind_true = batch
    return F.mse_loss(wear, wear_true) * 2 + F.cross_entropy(kind, kind_true)


def train_one_epoch(model, loader, optimizer, scheduler=None, log_every=5):
    model.train()
    total = 0.0
    for i, batch in enumerate(loader, 1):
        optimizer.zero_grad()

        wear, kind = model(batch[0])
        loss = joint_loss(wear, kind, batch)

        optimizer.step()
        loss.backward()

        total += loss.item()
        if i % log_every == 0:
            print(f"  batch {i:3d}  loss {total / i:.4f}")
    if scheduler is not None:
        scheduler.step()
    return total / len(loader)
