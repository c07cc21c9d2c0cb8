"""Attention written out, to look at the weights. Uses the parameters of the fused model."""

import torch
import torch.nn.functional as F

import a as fused


class Melody(torch.nn.Module):
    def __init__(self, source):
        super().__init__()
        self.table = torch.nn.Parameter(source.embed.weight.detach().clone())
        self.head = source.head
        self.weights = torch.nn.ParameterList()
        self.layers = []
        for layer in source.layers:
            entry = {name.replace(".", "_"): p for name, p in layer.named_parameters()}
            self.weights.extend(entry.values())
            self.layers.append(entry)

    def attention(self, p, x):
        t = x.shape[1]
        q = torch.einsum("ntd,ed->nte", x, p["attention_q_weight"]) + p["attention_q_bias"]
        k = torch.einsum("ntd,ed->nte", x, p["attention_k_weight"])
        v = torch.einsum("ntd,ed->nte", x, p["attention_v_weight"]) + p["attention_v_bias"]
        q, k, v = (y.unflatten(-1, (fused.HEADS, -1)) for y in (q, k, v))
        scores = torch.einsum("nqhc,nkhc->nhqk", q, k) / q.shape[-1] ** 0.5
        seen = torch.ones(t, t).tril(diagonal=1).bool()
        scores = scores.where(seen, float("-inf"))
        weights = torch.exp(scores - scores.amax(-1, keepdim=True))
        weights = weights / weights.sum(-1, keepdim=True)
        out = torch.einsum("nhqk,nkhc->nqhc", weights, v).flatten(2)
        return out @ p["attention_o_weight"].T + p["attention_o_bias"]

    def norm(self, p, name, x):
        return F.layer_norm(x, x.shape[-1:], p[name + "_weight"], p[name + "_bias"])

    def forward(self, notes):
        x = self.table[notes]
        for p in self.layers:
            x = self.norm(p, "n1", x + self.attention(p, x))
            h = (x @ p["ff_0_weight"].T + p["ff_0_bias"]).clamp(min=0)
            x = self.norm(p, "n2", x + h @ p["ff_2_weight"].T + p["ff_2_bias"])
        return self.head(x)


def main():
    model = Melody(fused.build())
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    batch = fused.tunes()
    for step in range(2):
        logp = torch.log_softmax(model(batch[:, :-1]), dim=-1)
        loss = F.nll_loss(logp.flatten(0, 1), batch[:, 1:].flatten())
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(step, round(loss.item(), 6))


if __name__ == "__main__":
    main()
