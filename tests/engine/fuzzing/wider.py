"""More statements than programs are mostly made of: what everyday programs call less often.

Where nothing can be filled, PyTorch looks at no index; here a wrong one is refused all the same, so that is left out.
PyTorch may refuse a backward pass here that this engine runs: where a rule of ours needs less of what was there before,
a write spoils nothing. Such a program ends there (see `Twin`).
"""

from __future__ import annotations

from typing import Final

from .statements import BINARY_TENSORS, COPYING, IN_PLACE, KINDS, REDUCING, UNARY, Kind, of_one, of_two, writing

ELEMENTWISE: Final = (
    "{x}.nan_to_num()", "torch.logaddexp({x}, {x} * 2)", "{x}.float().double()", "torch.nn.functional.elu({x})",
    "torch.nn.functional.hardswish({x} + 0.0131)", "torch.nn.functional.mish({x})", "{x}.softmax({dim})",
    "{x}.log_softmax({dim})", "{x}.frac()", "{x}.hypot({x} + 3)", "{x}.softmax(-1).log()", "{x}.view_as({x})",
    "{x}.expand_as({x})", "{x}.type(torch.float64)", "torch.broadcast_to({x}, (2, *{x}.shape))", "{x}.squeeze(0)",
    "{x}.ravel() * 1", "torch.atleast_2d({x}) * 1", "{x}.tile(2)", "{x}.unfold({dim}, 1, 1)",
    "{x}.swapaxes({dim}, {dim2})", "{x}.flip({dim})",
    "torch.diag_embed({x}) if {x}.ndim else {x} * 1", "{x}.repeat_interleave(2, {dim})",
    "torch.nn.functional.pad({x}, (1, 1)) if {x}.ndim else {x} * 1", "{x}.triu() if {x}.ndim > 1 else {x} * 1",
    "torch.nn.functional.glu(torch.cat([{x}, {x}], -1), -1) if {x}.ndim else {x} * 1",
    "{x}.unflatten({dim}, (-1, 1)) if {x}.ndim and {x}.numel() else {x} * 1",
)  # fmt: skip

ALONG_DIMS: Final = (
    "{x}.cumprod({dim})", "{x}.cummax({dim})[0]", "{x}.sort({dim})[0]", "{x}.topk(1, {dim})[0]", "{x}.max({dim})[0]",
    "{x}.min({dim}, keepdim=True).values", "({x} * 1).median({dim}).values",
    "{x}.std({dim}, unbiased=False)",
    "{x}.round(decimals=2).to(torch.float32).to(torch.float64)", "{x}.flip({dim}).cumsum({dim})",
    "{x}.norm(dim={dim}) if ({x}.detach().abs() > 0.01).all() else {x}.sum()",
    "{x}.diff(dim={dim}) if {x}.ndim and {x}.numel() else {x} * 1", "{x}.trace() if {x}.ndim == 2 else {x} * 1",
    "torch.nn.functional.layer_norm({x}, {x}.shape[-1:]) if {x}.ndim and {x}.shape[-1] > 1 else {x}.sum()",
    "torch.nn.functional.normalize({x}, dim=-1) if ({x}.detach().abs() > 0.01).all() else {x}.sum()",
    "torch.einsum('...i->...', {x}) if {x}.ndim else {x}.sum()",
    "torch.einsum('...i,...i->...i', {x}, {x}) if {x}.ndim else {x} * 2",
    "torch.outer({x}.reshape(-1), {x}.reshape(-1))",
)  # fmt: skip

OF_TWO: Final = (
    "torch.hypot({x}, {y} * {y} + 1)", "torch.logaddexp({x}, {y})", "{x}.masked_fill({y} > 0.0131, 0.5)",
    "torch.addcdiv({x}, {x}, {y} * {y} + 1, value=2)", "torch.fmod({x}, 2.13)", "torch.remainder({x}, 2.13)",
    "torch.dist({x}, {y} + 5)", "torch.tensordot({x}, {y}, 0)", "torch.einsum('ij,jk->ik', {x}, {y})",
    "torch.einsum('...i,...i->...', {x}, {y})", "torch.dot({x}.reshape(-1), {y}.reshape(-1))",
    "torch.nn.functional.smooth_l1_loss({x}, {y}) if {x}.shape == {y}.shape else {x} - {y}",
    "torch.nn.functional.huber_loss({x}, {y}, delta=0.5) if {x}.shape == {y}.shape else {x} - {y}",
    "torch.nn.functional.cosine_similarity({x}, {y}, dim=-1) if {x}.shape == {y}.shape and {x}.ndim else {x} - {y}",
    "torch.bmm({x}[None], {y}[None]) if {x}.ndim == 2 == {y}.ndim else {x} + {y}",
    "torch.copysign({x} + 0.0131, {y} + 0.0131)", "torch.xlogy({x}, {y} * {y} + 1)", "torch.vstack([{x}, {y}])",
    "torch.column_stack([{x}, {y}])", "torch.hstack([{x}, {y}])", "torch.nn.functional.linear({x}, {y})",
    "torch.addmm({x}, {y}, {y}.mT) if {y}.ndim == 2 else {x} + {y}",
    "torch.baddbmm({x}, {y}, {y}.mT) if {y}.ndim == 3 else {x} + {y}",
    "torch.cdist({x}, {y} + 3) if {x}.ndim == 2 == {y}.ndim else {x} + {y}", "({x} * {x} + 1) ** {y}",
    "torch.where({x} > 0.0131, {y}, 0.5)",
    "{x} // ({y} * {y} + 1.013)", "{x} % ({y} * {y} + 1.013)",
)  # fmt: skip

INDEXING: Final = (
    "{x}.scatter({dim}, torch.zeros_like({x}, dtype=torch.int64), 0.5)",
    "{x}.scatter_add({dim}, torch.zeros_like({x}, dtype=torch.int64), {x} * 2)",
    "{x}.index_add({dim}, torch.tensor([0]), {x}.narrow({dim}, 0, 1))",
    "{x}.index_fill({dim}, torch.tensor([0]), 0.3) if {x}.numel() else {x} * 1",
    "{x}.gather({dim}, {x}.argsort({dim}))", "{x}[..., None, :]", "{x}[:, None]",
    "{x}[torch.tensor([[0, -1], [0, 0]])]",
    "{x}[torch.tensor([0, 0]), torch.tensor([0, -1])]", "{x}[:, torch.tensor([0, 0])]", "{x}[True]", "{x}[None]",
    "{x}[torch.tensor([0]), :, torch.tensor([0])]", "{x}[0, ..., torch.tensor([0, 0])]", "{x}[-1:]", "{x}[1:0]",
    "{x}[({x} > 0.0131).any(-1)] if {x}.ndim > 1 else {x} * 1", "torch.take({x}, torch.tensor([0, 0]))",
    "{x}[[[0], [0]]]", "{x}[..., ::2]",
    "{x}[[True] + [False] * ({x}.shape[0] - 1)] if {x}.ndim else {x} * 1",
)  # fmt: skip

WRITES: Final = (
    "{x}.pow_(2)", "{x}.exp_().clamp_(max=5)",
    "{x}.lerp_({y} if not isinstance({y}, float) else {x} * 1, 0.3)", "{x}.addcmul_({x}, {x}, value=0.1)",
    "{x}.index_fill_({dim}, torch.tensor([0]), 0.3) if {x}.numel() else {x}.neg_()",
    "{x}.scatter_({dim}, torch.zeros_like({x}, dtype=torch.int64), 0.5)",
    "{x}.index_add_({dim}, torch.tensor([0]), {x}.detach().narrow({dim}, 0, 1).clone())", "{x}.cumsum_({dim})",
    "{x}[..., -1:].mul_(2)", "{x}.select({dim}, 0).add_(1)", "{x}.narrow({dim}, 0, 1).zero_()", "{x}[:, 0] = {y}",
    "{x}[..., None][0] = 0.1", "{x}[({x} > 0.0131)] *= 2", "{x}[[0, -1]] = 0.7", "{x}[torch.tensor([0, 0])] += 1",
    "{x}.diagonal().fill_(0.2)", "{x}.T.add_(1) if {x}.ndim == 2 else {x}.add_(1)",
    "{x}.sqrt_() if ({x} > 0.05).all() else {x}.neg_()", "{x}.reciprocal_() if ({x}.abs() > 0.2).all() else {x}.neg_()",
    "{x}.masked_scatter_({x} > 0.0131, torch.ones(64))", "{x}.tril_()", "torch.nn.functional.leaky_relu_({x})",
    "torch.nn.functional.relu({x}, inplace=True)", "{x}.diagonal().fill_(0.3) if {x}.ndim == 2 else {x}.neg_()",
    "{x}.index_put_((torch.tensor([0]),), torch.tensor(0.5), accumulate=True)", "{x} **= 2", "{x} /= 2",
    "{x}.copy_(torch.ones_like({x}, dtype=torch.float32))", "{x}.data.mul_(0.5) if {x}.ndim else {x}.neg_()",
)  # fmt: skip

WIDER: Final[dict[str, Kind]] = KINDS | {
    "unary": Kind(of_one(UNARY + ELEMENTWISE), 16),
    "reducing": Kind(of_one(REDUCING + ALONG_DIMS), 16),
    "binary of tensors": Kind(of_two(BINARY_TENSORS + OF_TWO), 12),
    "copying": Kind(of_one(COPYING + INDEXING), 12),
    "in place": Kind(writing(IN_PLACE + WRITES), 10),
}
"""Every kind of statement, with these among the others."""
