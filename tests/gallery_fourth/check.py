"""The checks of ../gallery/check.py for this folder; the same arguments (--run, --only, --limit)."""

from __future__ import annotations

import importlib.util
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
WANTED = {"sick": 26, "cured": 26, "healthy": 26}

# As in ../gallery/check.py: lines that the twin does not change but that are tied to what is wrong.
TIED = {
    ("01_review_stars", "return self.head(self.encoder(ids))"): "returns the probabilities",
    ("01_review_stars", "criterion = nn.CrossEntropyLoss()"): "the loss that applies log-softmax",
    ("01_review_stars", "loss = criterion(model(x), y)"): "calls the loss",
    ("02_road_mask", "return self.outc(self.up(torch.cat([skip, deep], 1)))"): "returns the probabilities",
    ("02_road_mask", "criterion = nn.BCEWithLogitsLoss()"): "the loss that applies the sigmoid",
    ("02_road_mask", "loss = criterion(out, masks[part])"): "calls the loss",
    ("03_engine_wear", "optimizer.zero_grad()"): "clears what the step should have used",
    ("03_engine_wear", "loss = train_one_epoch(model, loader, optimizer)"): "calls it",
    ("04_pipe_flow", "self.optimizer.step()"): "steps with unclipped gradients",
    ("04_pipe_flow", "loss = learner.update(x, y)"): "calls it",
    ("05_parcel_sorter", "mixed = self.momentum * self.means + (1 - self.momentum) * now"): "where the old means enter",
    ("05_parcel_sorter", "now = onehot.T @ z / onehot.sum(0).clamp(min=1).unsqueeze(1)"): "where the graph enters",
    ("05_parcel_sorter", "return (z - self.means[y]).pow(2).sum(1).mean()"): "uses the means with their graph",
    ("05_parcel_sorter", "means.update(z, kinds[part])"): "hands over the embeddings with their graph",
    ("05_parcel_sorter", "loss.backward()"): "raises the exception",
    ("05_parcel_sorter", "loss = loss + 0.02 * means(z, kinds[part])"): "adds the term to the loss",
    ("06_spoken_digits", "self.total = self.total + value * n"): "the sum that holds the graphs",
    ("07_traffic_signs", "return (picture + noise).clamp(max=255).to(torch.uint8), shape"): "where the bytes are made",
    ("07_traffic_signs", "x = self.pool(torch.relu(self.conv1(x)))"): "the layer that gets the bytes",
    ("07_traffic_signs", "out = net(pictures)"): "where the bytes enter",
    (
        "07_traffic_signs",
        "optimizer = torch.optim.SGD(net.parameters(), lr=0.03, momentum=0.9)",
    ): "a rate too large for such inputs",
    ("08_log_parser", "model = reset_weights(Parser(VOCAB, TAGS))"): "calls it",
    (
        "09_gesture_denoiser",
        "optimizer = getattr(torch.optim, config.optimizer)(model.parameters(), lr=config.lr)",
    ): "where the rate is used",
    ("09_gesture_denoiser", "optimizer.step()"): "the steps that are too large",
    ("10_recipe_tokens", "model.embed.weight = grown(model.embed.weight, rows)"): "the other half of the pair",
    ("10_recipe_tokens", "model = resize_embeddings(model, 22)"): "calls it",
    ("10_recipe_tokens", "self.decoder.weight = self.embed.weight"): "where they were tied",
    ("11_energy_label", "train, test = split(400)"): "calls it",
    ("11_energy_label", "torch.manual_seed(seed)"): "seeds torch alone",
    ("12_step_sensor", "states, _ = self.lstm(self.lift(x).tanh())"): "gets the scrambled sequences",
    ("12_step_sensor", "scores = model(x)"): "calls it",
    ("13_leaf_disease", "self.scheduler.step()"): "cuts the rate",
    (
        "13_leaf_disease",
        "self.scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5)",
    ): "the scheduler whose factor is meant for epochs",
    ("13_leaf_disease", "c.on_batch_end(self)"): "calls it after every batch",
    (
        "13_leaf_disease",
        "Trainer(net, optimizer, nn.CrossEntropyLoss(), [Annealer(optimizer), Printer()]).fit(loader, epochs=7)",
    ): "makes the annealer",
    ("14_ticket_priority", "optimizer.step()"): "steps with the sum of all gradients",
    ("14_ticket_priority", "for part in order.split(batch):"): "the loop in which zero_grad() belongs",
    ("14_ticket_priority", "train(TicketNet(), ids, priority)"): "calls it",
    ("15_voice_match", "loss = contrastive(net(left), net(right), same)"): "calls the loss",
    ("15_voice_match", "loss.backward()"): "the pass that reaches no parameter",
    ("16_crop_yield", "optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)"): "the optimizer that lacks it",
    ("17_scene_tasks", "weights = UncertaintyWeights(3)"): "what the optimizer lacks",
    ("17_scene_tasks", "net, weights, optimizer = build()"): "calls it",
    ("17_scene_tasks", "self.log_vars = nn.Parameter(torch.full((tasks,), start))"): "the parameter that stands still",
    ("18_plankton_finetune", "p.requires_grad = False"): "the statement that freezes",
    (
        "18_plankton_finetune",
        "train(prepare(net, 4), *needles(240, gen, [30.0], [0.0, 0.8, 1.57, 2.36]), steps=80, lr=6e-3)",
    ): "calls it",
    ("19_credit_risk", "scores = model(x)"): "the evaluation with dropout",
    ("19_credit_risk", "model.eval()"): "the switch without effect",
    ("20_lift_dqn", "loss = F.smooth_l1_loss(value, wanted)"): "where the two shapes meet",
    ("20_lift_dqn", "loss = agent.learn(*map(torch.stack, zip(*(memory[i] for i in picks))))"): "calls it",
    ("21_depth_camera", "gap = (pred - depth).pow(2).sum(1)"): "the value under the root",
    ("21_depth_camera", "return (rmse_map(pred, depth) * weight).sum() / weight.sum()"): "calls it",
    ("21_depth_camera", "loss = depth_loss(net(bright, seen), depth, 0.2 + seen.squeeze(1))"): "calls the loss",
    ("21_depth_camera", "loss.backward()"): "the pass that makes the NaN",
    ("22_fraud_focal", "p = torch.sigmoid(logits)"): "the sigmoid that is exactly 0 or 1",
    ("22_fraud_focal", "return (target * positive + (1 - target) * negative).mean()"): "zero times infinity",
    ("22_fraud_focal", "loss = criterion(out, fraud)"): "calls the loss",
    ("22_fraud_focal", "x[:2, 0] = x[:2, 0].sign() * 60"): "where the far amounts come from",
    ("23_brush_gan", "self.opt_c.step()"): "changes the weights that backward needs",
    ("23_brush_gan", "loss_p.backward()"): "raises the exception",
    ("23_brush_gan", "score = self.critic(fake)"): "makes the graph that goes stale",
    ("23_brush_gan", "c, p = rounds.play(strokes(64, gen), torch.randn(64, 4, generator=gen))"): "calls it",
    ("24_rent_regressor", "return numeric, district, rent.clamp(min=2)"): "targets that are not scaled to 0..1",
    (
        "24_rent_regressor",
        "rent = 9 + 2.5 * numeric[:, 0] - numeric[:, 1] + 0.8 * (district - 2.5)",
    ): "targets that are not scaled to 0..1",
    ("24_rent_regressor", "loss = criterion(out, rent)"): "where outputs and targets meet",
    ("24_rent_regressor", "out = net(numeric, district)"): "calls the net",
    ("25_promoter_dna", 'BASES = {"A": 1, "C": 2, "G": 3, "T": 4}'): "the table without lower case",
    (
        "25_promoter_dna",
        'sequences = ["".join("acgt"[i] for i in row) for row in letters.tolist()]',
    ): "where the lower case comes from",
    ("25_promoter_dna", "codes = to_codes(sequences)"): "calls it",
    ("26_nuclei_masks", "dice = shared / (p.sum(1) + m.sum(1) + self.smooth)"): "the score that is taken for a loss",
    ("26_nuclei_masks", "loss = criterion(out, mask)"): "calls the loss",
}

if __name__ == "__main__":
    spec = importlib.util.spec_from_file_location("gallery_check", HERE.parent / "gallery" / "check.py")
    check = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(check)
    check.HERE, check.WANTED, check.TIED = HERE, WANTED, TIED
    sys.exit(check.main())
