"""Writes at an index as programs do them, held to PyTorch: values, gradients of both orders, and what raises."""

from __future__ import annotations

import pytest

from tests.engine.calls import assert_agree

pytest.importorskip("torch")
pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore::UserWarning")]

CALLS = """
out = x.masked_fill_(m,0.)
out = x.masked_fill_(m,s)
out = x.masked_fill_(columns,s)
out = v.masked_fill_(m,1.)
out = x.scatter_(1,i,y)
out = x.scatter_(1,i,2.)
out = x.scatter_add_(1,i,y)
out = x.scatter_reduce_(1,i,y,'prod')
out = x.scatter_reduce_(1,i,y,'mean')
out = x.scatter_reduce_(1,i,y,'sum',include_self=False)
out = x.index_add_(0,t.tensor([0,2,0]),y)
out = x.index_add_(0,t.tensor([0,2,0]),y,alpha=2)
out = x.index_fill_(0,t.tensor([2,0]),3.)
out = x.index_put_((t.tensor([0,2]),t.tensor([1,1])),w[:2])
out = x.index_put_((t.tensor([0,0]),),w,accumulate=True)
out = x.index_put_((m,),t.tensor(2.))
out = x.masked_scatter_(m,y)
out = x.repeat_interleave(1,0); x.mul_(2); out = out.mul_(3)
out = x[:1].repeat_interleave(2,0); x.mul_(2)
out = x.expand_as(x).mul_(2)
out = x.expand(1,*x.shape).mul_(2)
out = x[:1].expand_as(x).mul_(2)
out = x.tril_()
out = x.triu_(1)
out = x.cumsum_(1)
out = x.cumprod_(0)
out = x.squeeze_()
out = x.unsqueeze_(0)
out = x.unsqueeze_(0).squeeze_(0)
out = x.t_()
out = c.transpose_(0,2)
out = c.swapaxes_(0,1)
out = x.t_().mul_(2)
x[0] = w; out = x
x[0] = 1.5; out = x
x[0,1] = s; out = x
x[1:] = w; out = x
x[:,1] = v[:3]; out = x
x[m] = 0.; out = x
x[m] = s; out = x
x[m] = y[m]; out = x
x[t.tensor([0,2])] = w; out = x
x[t.tensor([0,2]),t.tensor([1,1])] = w[:2]; out = x
c[0,:,t.tensor([0,2,1])] = q; out = c
c[0,:,t.tensor([0,2])] = 2.; out = c
x[...] = 2.; out = x
x[None] = w; out = x
x[0] = w[None]; out = x
x[0] = v; out = x
x[5] = 0.; out = x
x[0] = i[0]; out = x
i[0] = 5; out = i
i[0] = w; out = i
i[0,0] = 1.7; out = i
x[[0,1]] = y[:2]; out = x
x[:, [0,1]] = 0.; out = x
x[rows] = w; out = x
x[rows,1] = 7.; out = x
x[:, columns] = 7.; out = x
s[...] = 3.; out = s
s[()] = 3.; out = s
x[0:0] = 3.; out = x
x[t.tensor(1)] = w; out = x
x[0] += w; out = x
x[:,0] *= 2; out = x
r = x[0]; r.mul_(2); out = x
r = x.t(); r[0] = w[:3]; out = x
r = x.view(-1); r[3] = 9.; out = x
r = x.diagonal(); r.fill_(0.); out = x
r = v.unfold(0,2,2); r[0] = 1.; out = v
r = c.permute(2,0,1)[1]; r.add_(1); out = c
a,b = x.split(2,1); a.mul_(2); out = x
r = x.narrow(1,1,2); r.zero_(); out = x
r = x.select(1,1); r.zero_(); out = x
r = x.squeeze(0); r.mul_(2); out = x
r = x.unsqueeze(0); r[0,0] = w; out = x
r = x.expand(2,3,4); r.mul_(2); out = x
r = v[2]; r.mul_(3); out = v
r = x.flatten(); r[0] = 5.; out = x
r = x.t().flatten(); r[0] = 5.; out = x
r = x.t().reshape(-1); r[0] = 5.; out = x
r = x.movedim(0,1); r[0] = 5.; out = x
x.clamp_(min=0); out = x
out = x.flip(0); out[0] = 1.; x2 = x; out = (out,x)
y2 = x*2; z2 = y2.exp(); y2[0] = 0.; out = z2
y2 = x*2; z2 = y2*y2; y2[0] = 0.; out = z2
y2 = x*2; z2 = y2[t.tensor([0,1])]; y2[0] = 0.; out = z2 + y2[:2]
"""


@pytest.mark.parametrize("line", CALLS.strip().splitlines())
def test_a_line_does_what_it_does_in_torch(line):
    assert_agree(line)
