"""Every request that is understood, each once; importing this package fills the table."""

from graphscope.dap.requests import breakpoints as breakpoints
from graphscope.dap.requests import evaluation as evaluation
from graphscope.dap.requests import lifecycle as lifecycle
from graphscope.dap.requests import motion as motion
from graphscope.dap.requests import own as own
from graphscope.dap.requests import sources as sources
from graphscope.dap.requests import stack as stack
from graphscope.dap.requests import variables as variables
