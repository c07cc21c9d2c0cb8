"""The checks of ../gallery/check.py for this folder; the same arguments (--run, --only, --limit)."""

from __future__ import annotations

import importlib.util
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
WANTED = {"sick": 40, "cured": 40, "healthy": 34}

# As in ../gallery/check.py: lines that the twin does not change but that are tied to what is wrong.
TIED = {
    ("01_road_network", "message = (adjacency @ x) / count"): "the division by zero",
    ("02_river_levels", "likelihood = (weight * density).sum(dim=-1)"): "where the likelihood comes out as zero",
    (
        "02_river_levels",
        "density = torch.exp(-0.5 * z * z) / (spread * math.sqrt(2 * math.pi))",
    ): "the density that underflows",
    ("03_shell_search", "return powered.pow(1.0 / self.p)"): "the root whose derivative is infinite at zero",
    ("04_wine_ranking", "gap = sigma * (better - worse)"): "the exponent that grows",
    ("05_star_spectra", "x = x + self.scale * block(x)"): "the sum that grows from block to block",
    ("05_star_spectra", "nn.init.kaiming_normal_(m.weight)"): "the gain of each branch",
    ("05_star_spectra", 'self.scale = cfg["branch_scale"]'): "where the scale is read",
    ("06_wing_noise", "layers += [nn.Linear(size, width), nn.Tanh()]"): "where the twelve layers are made",
    ("06_wing_noise", "return self.out(self.body(x)).squeeze(-1)"): "where the layers are called",
    ("06_wing_noise", "self.body = nn.Sequential(*layers)"): "where the layers are put together",
    ("08_quake_type", "nn.init.constant_(self.gate.bias, -carry)"): "the bias that shuts the gate",
    ("08_quake_type", "g = torch.sigmoid(self.gate(x))"): "the gate that is shut",
    ("08_quake_type", "return g * torch.relu(self.transform(x)) + (1 - g) * x"): "where the gate is used",
    (
        "08_quake_type",
        'net = Highway(6, 3, settings["width"], settings["blocks"], settings["carry"])',
    ): "passes the setting on",
    ("09_portrait_tasks", "return smile + 0.5 * pose + 2.0 * age, parts"): "adds a plain number to the loss",
    ("10_boiler_valve", "return notch / self.NOTCHES * 4.0"): "first line that uses the integer",
    (
        "11_dialect_heads",
        "return self.heads[dialect](self.norm(self.encode(x)))",
    ): "where the hidden heads are called",
    (
        "11_dialect_heads",
        "optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)",
    ): "the optimizer that does not get them",
    (
        "12_photo_tokens",
        'matrices = [p for n, p in named if n.endswith("weight") and p.dim() >= 2]',
    ): "the other of the two filters",
    (
        "12_photo_tokens",
        "opt = torch.optim.AdamW(param_groups(model, 0.05), lr=2e-3)",
    ): "the optimizer that lacks them",
    (
        "12_photo_tokens",
        'return [{"params": matrices, "weight_decay": decay}, {"params": biases, "weight_decay": 0.0}]',
    ): "the groups that leave parameters out",
    ("13_view_pairs", "p.requires_grad_(False)"): "the statement that freezes",
    ("13_view_pairs", "for p in self.target.parameters():"): "the loop that freezes",
    ("14_wind_tcn", "weight_norm(module)"): "replaces what the optimizer holds",
    ("15_recipe_steps", "memory = self.encoder(src)"): "the value that is dropped",
    ("15_recipe_steps", "if memory is not None:"): "the branch never taken",
    ("15_recipe_steps", "x = self.norm2(x + self.cross(x, memory))"): "the call never made",
    ("15_recipe_steps", "self.own, self.cross = Attention(dim), Attention(dim)"): "where the unused layer is made",
    (
        "15_recipe_steps",
        "self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)",
    ): "where the unused layer is made",
    ("15_recipe_steps", "def forward(self, ids, memory=None):"): "the default that hides the missing argument",
    ("16_beacon_survey", "self.north = nn.Parameter(guess[:, 1].clone())"): "the parameter that stays",
    ("16_beacon_survey", "model = Positions(guess.float())"): "where the positions become float32",
    ("16_beacon_survey", "optimizer.step()"): "the step that changes nothing",
    ("16_beacon_survey", "optimizer = torch.optim.Adam(model.parameters(), lr=lr)"): "where the rate is used",
    ("17_crop_health", "self.scheduler.step()"): "the call made once per batch",
    (
        "17_crop_health",
        "scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=4, gamma=0.1)",
    ): "where the scheduler is made",
    ("17_crop_health", 'self.call("on_batch_end")'): "calls the callback once per batch",
    (
        "18_bracket_reader",
        "scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, noam(32, warmup=1000))",
    ): "where the schedule is made",
    ("18_bracket_reader", "return dim ** -0.5 * min(step ** -0.5, step * warmup ** -1.5)"): "the factor",
    ("18_bracket_reader", "scheduler.step()"): "sets the rate",
    ("19_dune_profiles", "loss.backward()"): "adds to the gradients of the step before",
    ("19_dune_profiles", "self.d_opt.step()"): "steps with the sum of all gradients",
    ("20_pollen_count", "self.opt.step()"): "the call that comes too early",
    ("20_pollen_count", "self.loss.backward()"): "the call that comes too late",
    ("20_pollen_count", "stage()"): "calls the stages in that order",
    ("21_lidar_depth", "self.scaler.step(self.optimizer)"): "the step that comes out tiny",
    ("22_keyword_stream", "self.mean = self.keep * self.mean + (1 - self.keep) * now"): "where the state is kept",
    ("22_keyword_stream", "return h - self.mean"): "where the state enters the step",
    ("22_keyword_stream", "loss.backward()"): "raises the exception",
    ("23_fuel_use", "loss = criterion(model(x).squeeze(1), y)"): "the value whose graph is kept",
    ("23_fuel_use", "self.value = self.keep * self.value + (1 - self.keep) * new"): "where the graph is kept",
    ("23_fuel_use", "self.value = new"): "where the graph is kept",
    ("24_protein_labels", "g = torch.tanh(h + x)"): "the value that is overwritten",
    ("25_cart_values", "loss = error.pow(2).mean()"): "the mean over the square of all pairs",
    ("25_cart_values", "return self.net(torch.cat([state, action], dim=-1))"): "gives the column",
    ("26_bird_calls", "return (weights * h).sum(dim=1)"): "where the weights are used",
    ("26_bird_calls", "scores = self.scorer(h)"): "the column of scores",
    (
        "27_paper_topics",
        "loss = F.cross_entropy(probs[labelled], topic[labelled])",
    ): "the loss that applies softmax again",
    ("27_paper_topics", "return self.forward(a, x).softmax(dim=-1)"): "the softmax itself",
    (
        "28_friend_links",
        "return F.binary_cross_entropy_with_logits(scores, labels), (friend.mean() - stranger.mean()).item()",
    ): "the loss that applies the sigmoid again",
    (
        "28_friend_links",
        "friend, stranger = model.decode(z, edges), model.decode(z, strangers)",
    ): "where the decoder is called",
    ("29_tile_colours", "return self.pictures[i].float(), self.kinds[i]"): "hands out the zeros",
    ("29_tile_colours", "loss = nn.functional.cross_entropy(net(pictures), kind)"): "where the zeros enter",
    ("29_tile_colours", "x = self.pool(torch.relu(self.conv1(x)))"): "the layer that gets zeros",
    (
        "30_storm_barometer",
        "pressure = start + trend * torch.arange(6.0) + 20 * torch.randn(n, 6)",
    ): "makes the raw column",
    ("30_storm_barometer", "start = 101300 + 900 * torch.randn(n, 1)"): "makes the raw column",
    ("30_storm_barometer", "return self.x[i], self.y[i]"): "hands out the raw columns",
    ("30_storm_barometer", "x = torch.relu(self.inp(x))"): "the layer that gets the raw columns",
    ("30_storm_barometer", "self.inp = nn.Linear(columns, width)"): "the layer that gets the raw columns",
    ("30_storm_barometer", "loss = nn.functional.mse_loss(model(x), y)"): "where the raw columns enter",
    (
        "31_cloud_masks",
        'net = build("small_seg", channels=2, pretrained=False)',
    ): "where the net in eval mode comes from",
    ("31_cloud_masks", "for step in range(1, steps + 1):"): "the loop before which train() belongs",
    ("31_cloud_masks", "out = net(x)"): "the pass in the wrong mode",
    ("33_melon_quality", "def reset_parameters(self, value=0.05):"): "the constant itself",
    ("33_melon_quality", "net.reset_parameters()"): "calls the initialisation",
    ("34_sign_strokes", "p -= rate * p.grad"): "the step that is too large",
    ("34_sign_strokes", "def learn(net, centres, rate=0.2, steps=80):"): "the rate",
    ("34_sign_strokes", "descend(net.parameters(), rate)"): "where the step is taken",
    ("35_delivery_times", "loss = loss_of(mean, spread, y)"): "calls the loss",
    ("35_delivery_times", "loss.backward()"): "descends on it",
    (
        "36_film_ratings",
        "return torch.stack([number.to(dtype), film.to(dtype), stars.to(dtype)], dim=1)",
    ): "the cast that rounds",
    ("36_film_ratings", "user = (table[:, 0] - FIRST_USER).long()"): "the difference that comes out the same",
    ("36_film_ratings", "table = ratings(4000)"): "reads the table",
    ("37_melody_model", "self.tie_weights()"): "calls the copy",
    ("37_melody_model", "self.output = nn.Linear(dim, notes, bias=False)"): "where the second matrix is made",
    ("38_leaf_augment", "outline = outline.flip(-1)"): "what the draw decides",
    ("38_leaf_augment", "outline = outline.roll(5, -1)"): "what the draw decides",
    ("38_leaf_augment", "torch.manual_seed(seed)"): "beside which the other seed belongs",
    ("38_leaf_augment", "def seed_everything(seed):"): "the function that should seed it",
    ("38_leaf_augment", "seed_everything(138)"): "calls that function",
    ("39_map_matcher", "def encode_maps(self, maps):"): "the method that is decorated",
    ("39_map_matcher", "return F.normalize(self.map_net(maps), dim=1)"): "computed without a graph",
    (
        "39_map_matcher",
        "logits = model.scale.exp() * model.encode_walks(walks) @ model.encode_maps(maps).t()",
    ): "first line that receives the cut tensor",
    (
        "40_card_player",
        'return logits.masked_fill(~allowed, float("-inf")).softmax(dim=1)',
    ): "where the exact zeros come from",
    ("40_card_player", "entropy = player.entropy(probs).mean()"): "calls the entropy",
    (
        "40_card_player",
        "loss = -((reward - baseline) * log_prob).mean() - bonus * entropy",
    ): "puts the NaN into the loss",
}

if __name__ == "__main__":
    spec = importlib.util.spec_from_file_location("gallery_check", HERE.parent / "gallery" / "check.py")
    check = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(check)
    check.HERE, check.WANTED, check.TIED = HERE, WANTED, TIED
    sys.exit(check.main())
