"""What the adapter of any framework needs: frames, scopes, identities, rows of both passes, the gate, and patches.

An adapter is a module with `attach(writer)` and `detach()`, named in the table `ADAPTERS` or by an entry point of the
group `graphscope.adapters`. It changes the framework by `Patches`, and tells a `Tape` what the framework computes.
"""

from graphscope.adapters.kit.frames import Frames as Frames
from graphscope.adapters.kit.identity import Identities as Identities
from graphscope.adapters.kit.notices import left_changed as left_changed
from graphscope.adapters.kit.notices import say as say
from graphscope.adapters.kit.patches import Patches as Patches
from graphscope.adapters.kit.tape import Node as Node
from graphscope.adapters.kit.tape import Tape as Tape
from graphscope.eventlog.writer import Writer as Writer
