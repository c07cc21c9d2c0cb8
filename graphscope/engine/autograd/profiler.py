"""`torch.autograd.profiler`: the names that programs give to parts of their run."""

from graphscope.engine.profiler import record_function as record_function
