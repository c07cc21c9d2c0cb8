import torch


class Trainer:
    """bfloat16 where autocast allows, float32 weights, two batches for one step."""

    def __init__(self, steps, accumulate=2, clip=1.0, precision="bf16"):
        self.steps, self.accumulate, self.clip = steps, accumulate, clip
        self.cast = torch.autocast("cpu", dtype=torch.bfloat16, enabled=precision == "bf16")
        self.scaler = torch.amp.GradScaler("cpu", enabled=precision == "fp16")

    def fit(self, module, batches):
        opt, sched = module.configure_optimizers(self.steps)
        module.train()
        mean = 0.0
        for i, batch in enumerate(batches, 1):
            with self.cast:
                loss = module.training_step(batch) / self.accumulate
            self.scaler.scale(loss).backward()
            mean += loss.item()
            if i % self.accumulate:
                continue
            self.scaler.unscale_(opt)
            torch.nn.utils.clip_grad_norm_(module.parameters(), self.clip)
            self.scaler.step(opt)
            self.scaler.update()
            opt.zero_grad(set_to_none=True)
            sched.step()
            step = i // self.accumulate
            if step % 10 == 0:
                print(f"step {step} loss {mean:.4f} lr {sched.get_last_lr()[0]:.5f}")
            mean = 0.0
            if step == self.steps:
                return
