import torch
from torch.nn.utils import clip_grad_norm_


class AmpTrainer:
    def __init__(self, net, optimizer, max_norm, device="cpu"):
        self.net, self.optimizer, self.max_norm, self.device = net, optimizer, max_norm, device
        self.scaler = torch.amp.GradScaler(device, init_scale=1024.0)

    def step(self, x, y):
        self.optimizer.zero_grad()
        with torch.autocast(self.device, dtype=torch.bfloat16):
            out = self.net(x)
        loss = torch.nn.functional.mse_loss(out.float(), y)
        self.scaler.scale(loss).backward()
        clip_grad_norm_(self.net.parameters(), self.max_norm)
        self.scaler.step(self.optimizer)
        self.scaler.update()
        return loss.item()
