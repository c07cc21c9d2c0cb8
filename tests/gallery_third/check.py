"""The checks of ../gallery/check.py for this folder; the same arguments (--run, --only, --limit)."""

from __future__ import annotations

import importlib.util
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
WANTED = {"sick": 24, "cured": 24, "healthy": 24}

# As in ../gallery/check.py: lines that the twin does not change but that are tied to what is wrong.
TIED = {
    ("01_abstract_mlm", "loss = mlm_loss(model(inputs), ids, picked)"): "calls the loss",
    ("02_tile_mixup", "target = soften(y, CLASSES, 0.0)"): "where the exact zeros come from",
    ("02_tile_mixup", "loss = criterion(out, target)"): "calls the loss",
    ("03_surface_normals", "return torch.acos(cosine).mean()"): "the op whose derivative is infinite at one",
    ("03_surface_normals", "loss = mean_angle(model(height), normal)"): "calls the loss",
    ("03_surface_normals", "loss.backward()"): "the pass that makes the NaN",
    ("04_survival", "loss = partial_likelihood(risk, time[part], observed[part])"): "calls the loss",
    (
        "04_survival",
        "return self.risk(torch.relu(self.hidden(x))).squeeze(1) + self.trend * day",
    ): "the risk that grows with the day",
    ("05_road_speeds", "return h + F.relu(self.mix(message))"): "the sum that grows from layer to layer",
    ("05_road_speeds", "h = layer(h, self.adj)"): "calls the layers",
    ("05_road_speeds", "return adj"): "the links that are not weighted",
    (
        "06_seismic_denoise",
        "self.conv = nn.Conv1d(channels, channels, 3, padding=dilation, dilation=dilation)",
    ): "the layer that shrinks the signal",
    ("06_seismic_denoise", "x = block(x)"): "calls one block after the other",
    ("06_seismic_denoise", "self.stack = Stack(channels, depth)"): "makes the stack",
    ("06_seismic_denoise", "return self.drop(self.stack(self.lift(trace)))"): "calls the stack",
    ("07_whale_calls", "return self.conv(F.relu(x))"): "the ReLU that gives zeros only",
    ("07_whale_calls", "return db.clamp(min=floor)[None] / 20"): "makes inputs that are all negative",
    (
        "07_whale_calls",
        "return self.classify(F.relu(self.features(x)).flatten(1))",
    ): "calls the layers",
    ("08_flat_prices", "weight = F.softmax(-d2 / self.temperature, dim=-1)"): "the softmax that is one-hot",
    ("08_flat_prices", "self.temperature = cfg.temperature"): "passes the setting on",
    ("08_flat_prices", "model = KernelRegressor(cfg)"): "passes the setting on",
    ("08_flat_prices", "return weight @ price"): "uses the one-hot weights",
    ("09_image_codec", "z = z.clamp(-self.limit, self.limit)"): "the last value before the cut",
    ("09_image_codec", "codes = self.rounder(4 * self.analysis(image))"): "calls the rounding",
    (
        "10_seat_forecast",
        "self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)",
    ): "the optimizer that lacks it",
    (
        "10_seat_forecast",
        "return self.trend(recent).squeeze(-1) + self.profile[day, hour]",
    ): "uses what is not registered",
    (
        "11_topic_tagger",
        'log(f"encoder {count(encoder)} weights at {slow}, head {count(head)} weights at {fast}")',
    ): "uses the generator up",
    ("11_topic_tagger", '{"params": encoder, "lr": slow},'): "the group that is empty",
    ("11_topic_tagger", "return ["): "the groups",
    (
        "11_topic_tagger",
        "optimizer = torch.optim.AdamW(two_speeds(model, slow=2e-2, fast=3e-2), weight_decay=0.0)",
    ): "the optimizer that lacks the encoder",
    ("12_leaf_transfer", "p.requires_grad_(True)"): "the statement never reached",
    ("12_leaf_transfer", "p.requires_grad_(False)"): "the statement that freezes",
    ("12_leaf_transfer", "def unfreeze(model, blocks):"): "the function that should unfreeze",
    ("12_leaf_transfer", "freeze(model)"): "calls the freezing",
    ("12_leaf_transfer", 'unfreeze(model, ["block1", "block2"])'): "the call without effect",
    (
        "13_kfold_glass",
        "self.opt = torch.optim.Adam(self.net.parameters(), lr=lr)",
    ): "the optimizer that goes stale",
    ("13_kfold_glass", "def restart(self):"): "the method that replaces the net",
    ("13_kfold_glass", "self.opt.step()"): "steps for the old net",
    ("13_kfold_glass", "runner.restart()"): "calls it",
    ("14_bird_song", "back, _ = self.right(x.flip(1))"): "the value that is dropped",
    ("14_bird_song", "back = back.flip(1)"): "the value that is dropped",
    (
        "14_bird_song",
        "self.right = nn.GRU(inputs, hidden, batch_first=True)",
    ): "where the unused layer is made",
    ("15_pump_wear", "opt = torch.optim.SGD(net.parameters(), lr=LR)"): "the optimizer of bfloat16 weights",
    ("15_pump_wear", "opt.step()"): "the step that changes little",
    ("15_pump_wear", "net = WearNet(20, 64)"): "where the bfloat16 weights are made",
    ("15_pump_wear", "self.norm = nn.LayerNorm(hidden)"): "where bfloat16 weights are made",
    ("15_pump_wear", "self.encoder = nn.Linear(sensors, hidden)"): "where bfloat16 weights are made",
    ("15_pump_wear", "self.decoder = nn.Linear(hidden, 1)"): "where bfloat16 weights are made",
    ("15_pump_wear", "torch.set_default_dtype(getattr(torch, precision))"): "sets the type",
    (
        "16_power_load",
        "optimizer = torch.optim.Adam(self.parameters(), lr=self.lr)",
    ): "the optimizer whose rate vanishes",
    ("16_power_load", "scheduler.step(val)"): "cuts the rate",
    ("16_power_load", "conf = module.configure_optimizers()"): "where the scheduler comes from",
    ("17_enzyme_curve", "loss.backward()"): "adds to the gradients of the calls before",
    ("17_enzyme_curve", "loss = self.opt.step(self.objective)"): "steps with the sum of all gradients",
    ("18_contract_reader", "weights = torch.exp(scores)"): "the value that is overwritten",
    ("18_contract_reader", "loss.backward()"): "raises the exception",
    (
        "19_heart_rate",
        "huber = torch.where(gap < self.delta, 0.5 * gap**2, self.delta * (gap - 0.5 * self.delta))",
    ): "goes on with all pairs",
    ("19_heart_rate", "return huber.mean() + self.jumps * jump"): "the mean over all pairs",
    ("19_heart_rate", "loss = criterion(net(signal), rate)"): "calls the loss with the two shapes",
    (
        "20_chord_lm",
        "return F.nll_loss(log_probs(p, ids).flatten(0, 1), following.flatten())",
    ): "the loss of these log-probabilities",
    ("21_tool_photos", "parts = path.split(os.sep)"): "splits the path",
    ("21_tool_photos", "names = sorted({kind_of(p) for p in paths})"): "finds one name only",
    ("21_tool_photos", "return self.pictures[i], self.codes[kind_of(self.paths[i])]"): "hands out the labels",
    ("21_tool_photos", "self.codes = label_encoder(self.paths)"): "makes the codes",
    ("21_tool_photos", "loss = criterion(out, y)"): "where the labels enter",
    (
        "21_tool_photos",
        "loader = DataLoader(Tools(320), batch_size=32, shuffle=True)",
    ): "where the data is made",
    ("22_skin_images", "return now"): "the return that leaves the mode as it is",
    ("22_skin_images", "self.model.eval()"): "switches the mode",
    ("22_skin_images", "for epoch in range(1, 17):"): "the loop in which train() could stand",
    ("22_skin_images", "loss = nn.functional.cross_entropy(net(x), y)"): "the pass in the wrong mode",
    (
        "22_skin_images",
        'print(f"epoch {epoch:2d} train {train_loss:.4f} valid {keeper():.4f} best {keeper.best:.4f}")',
    ): "calls the evaluation",
    ("23_face_vae", "loss = rec + beta * kl"): "adds it to the loss",
    ("23_face_vae", "rec, kl = reconstruction(out, x), divergence(mu, logvar)"): "calls it",
    (
        "24_orbit_drag",
        "spread = (self.squares / self.n - mean * mean).clamp(min=self.eps).sqrt()",
    ): "the difference that is lost",
    ("24_orbit_drag", "self.squares += (rows * rows).sum(0)"): "the sum that rounds",
    ("24_orbit_drag", "self.total += rows.sum(0)"): "the sum that rounds",
    ("24_orbit_drag", "mean = self.total / self.n"): "the rounded mean",
    ("24_orbit_drag", "return (rows - mean) / spread"): "where the spread is used",
    ("24_orbit_drag", "x = scaler.transform(rows).float()"): "calls it",
    ("24_orbit_drag", "scaler.update(part)"): "calls it",
}

if __name__ == "__main__":
    spec = importlib.util.spec_from_file_location("gallery_check", HERE.parent / "gallery" / "check.py")
    check = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(check)
    check.HERE, check.WANTED, check.TIED = HERE, WANTED, TIED
    sys.exit(check.main())
