"""Indexing as programs write them, held to PyTorch: values, dtypes, gradients of both orders, and what raises."""

from __future__ import annotations

import pytest

from tests.engine.calls import assert_agree

pytest.importorskip("torch")
pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore::UserWarning")]

CALLS = """
F.one_hot(i)
F.one_hot(i,5)
F.one_hot(i,2)
F.one_hot(x)
F.embedding(i,x)
F.embedding(i,x,padding_idx=1)
F.embedding(i,x,padding_idx=-1)
F.embedding(i+5,x)
F.embedding(x,x)
F.embedding(number,x)
x[0]
x[-1]
x[3]
x[0,1]
x[0,1,2]
x[1:]
x[:,1]
x[:,1:3]
x[::2]
x[::-1]
x[...]
x[...,0]
x[None]
x[:,None]
x[...,None]
c[0,...,1]
c[...,1,:]
x[[0,2]]
x[[0,2],[1,1]]
x[:,[0,1,1]]
x[[[0,1],[1,0]]]
x[t.tensor([0,2])]
x[t.tensor(1)]
x[t.tensor([0,2]),t.tensor([1,3])]
x[t.tensor([0,2]),1]
x[0,t.tensor([0,2])]
x[t.tensor([-1,0])]
x[t.tensor([3])]
x[t.tensor([0.5])]
c[0,:,t.tensor([0,2,1])]
c[:,0,t.tensor([0,2,1])]
c[t.tensor([0,1]),:,t.tensor([0,2])]
c[t.tensor([0,1]),:,0]
c[:,t.tensor([[0,1],[1,2]])]
c[t.tensor([[0],[1]]),t.tensor([[0,1]])]
c[...,t.tensor([0,0])]
c[None,:,t.tensor([0,0])]
c[1,None,t.tensor([0,0])]
x[x>0]
x[m]
x[rows]
x[:,columns]
x[rows,:2]
x[columns]
x[m,0]
c[:,rows]
c[:,rows,1]
c[0,rows]
c[0,m]
x[m.to(t.uint8)]
x[True]
x[False]
x[t.tensor(True)]
s[None]
s[...]
s[()]
s[0]
s[True]
x[0.5]
x[1.0:]
x[range(2)]
x[(0,)]
x[[]]
x[t.tensor([],dtype=t.int64)]
x[:0]
x[5:]
x[-9:2]
x[number]
x[square]
none[:,0]
x[:,:,0]
i[0]
i[m]
len(x)
[r for r in v]
t.gather(x,1,i)
t.gather(x,0,i)
x.gather(1,square)
x.gather(-1,i[:, :1])
x.gather(1,t.tensor([[5]]))
x.gather(1,t.tensor([[-1]]))
x.gather(1,row)
x.gather(1,i.int())
s.gather(0,number)
v.gather(0,t.tensor(1))
x.index_select(0,t.tensor([0,2,2]))
x.index_select(1,row)
x.index_select(1,row.int())
x.index_select(0,t.tensor([3]))
x.index_select(0,t.tensor([-1]))
x.index_select(0,i)
x.index_select(0,t.tensor(1))
s.index_select(0,t.tensor([0]))
t.take(x,i)
t.take(x,t.tensor([-1,11]))
t.take(x,t.tensor([12]))
x.masked_select(m)
t.masked_select(x,columns)
t.masked_select(x[0],m)
x.masked_select(i)
x.masked_fill(m,0)
x.masked_fill(m,float('-inf'))
x.masked_fill(columns,2.5)
x.masked_fill(m,s)
x.masked_fill(i,1)
x.masked_fill(m,v)
i.masked_fill(m,7)
i.masked_fill(m,1.5)
v[:4].masked_fill(m,0)
x.masked_scatter(m,y)
x.masked_scatter(columns,y)
x.masked_scatter(m,v[:1])
x.scatter(1,i,y)
x.scatter(1,i[:, :2],y[:, :2])
x.scatter(1,t.tensor([[0],[1],[2]]),2.)
x.scatter(1,t.tensor([[0,1],[1,2],[2,0]]),value=1)
x.scatter(1,t.tensor([[4]]),1.)
x.scatter(1,t.tensor([[0]]),s)
t.zeros(3,5).scatter(1,i,1.,reduce='add')
t.zeros(3,5).scatter_add(1,i,x)
x.scatter_add(1,i,y)
x.scatter_add(0,i,y)
x.scatter_add(1,i,y.double())
x.scatter_reduce(1,i,y,'sum')
x.scatter_reduce(1,i,y,'mean')
x.scatter_reduce(1,i,y,'mean',include_self=False)
x.scatter_reduce(1,i,y,'prod')
x.scatter_reduce(1,i,y,reduce='prod',include_self=False)
x.scatter_reduce(1,i,y,'amax')
x.scatter_reduce(1,i,y,'amin',include_self=False)
ties.scatter_reduce(1,i,ties*1,'amax')
x.scatter_reduce(1,i,y,'nope')
i.scatter_reduce(1,i,i+5,'mean')
i.scatter_reduce(1,i,i+5,'amax')
x.index_add(0,t.tensor([0,2,0]),y)
x.index_add(1,t.tensor([0,2]),y[:, :2],alpha=2)
x.index_add(0,t.tensor([0,2]),y)
x.index_add(0,t.tensor([0,5,0]),y)
s.index_add(0,t.tensor([0]),v[:1])
x.index_fill(0,t.tensor([0,2]),1.)
x.index_fill(1,t.tensor([0,2]),s)
x.index_fill(1,t.tensor([0,9]),1.)
x.index_put((t.tensor([0,2]),t.tensor([1,1])),w[:2])
x.index_put((t.tensor([0,0]),),w,accumulate=True)
x.index_put((m,),t.tensor(1.))
x.index_put((t.tensor([0,9]),),w)
t.nonzero(i)
t.nonzero(i,as_tuple=True)
s.nonzero()
s.nonzero(as_tuple=True)
t.argwhere(i)
t.where(m)
t.where(m,x,y)
t.where(m,x,0.)
t.where(m,1.,x)
t.where(m,x,i)
x.where(m,y)
t.where(m,1.,0.)
t.where(m,1,0)
t.zeros(3,5).scatter(1,i,1.,reduce='multiply')
t.where(x>0,x,v)
t.where(i,x,y)
t.where(number>0,x,y)
"""


@pytest.mark.parametrize("line", CALLS.strip().splitlines())
def test_a_line_does_what_it_does_in_torch(line):
    assert_agree(line)
