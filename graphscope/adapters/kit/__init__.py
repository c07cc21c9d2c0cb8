"""What the adapter of any framework needs; `docs/how-to/adapters.md` tells of each and writes an adapter with it.

An adapter is a module with `attach(writer)` and `detach()`, named in the table `ADAPTERS` or by an entry point of the
group `graphscope.adapters`. It changes the framework by `Patches`, and tells a `Tape` what the framework computes.
"""

from graphscope.adapters.kit.attachment import Attachment as Attachment
from graphscope.adapters.kit.call_scopes import Scope as Scope
from graphscope.adapters.kit.call_scopes import within as within
from graphscope.adapters.kit.executor import Executor as Executor
from graphscope.adapters.kit.executor import RecordedCall as RecordedCall
from graphscope.adapters.kit.existing import instances as instances
from graphscope.adapters.kit.frames import Frames as Frames
from graphscope.adapters.kit.guard import guarded as guarded
from graphscope.adapters.kit.holders import holder as holder
from graphscope.adapters.kit.identity import Identities as Identities
from graphscope.adapters.kit.identity import Known as Known
from graphscope.adapters.kit.identity import Notes as Notes
from graphscope.adapters.kit.imported import importers as importers
from graphscope.adapters.kit.late_arrays import LateArray as LateArray
from graphscope.adapters.kit.late_arrays import tell_late as tell_late
from graphscope.adapters.kit.nodes import Node as Node
from graphscope.adapters.kit.notices import left_changed as left_changed
from graphscope.adapters.kit.notices import say as say
from graphscope.adapters.kit.op_entries import Argument as Argument
from graphscope.adapters.kit.op_entries import op_entry as op_entry
from graphscope.adapters.kit.patches import Patches as Patches
from graphscope.adapters.kit.recording import Recording as Recording
from graphscope.adapters.kit.tape import Tape as Tape
from graphscope.adapters.kit.training_steps import Steps as Steps
from graphscope.adapters.kit.value_names import Names as Names
from graphscope.adapters.kit.value_names import argument_name as argument_name
from graphscope.adapters.kit.value_policy import is_read as is_read
from graphscope.adapters.kit.value_policy import unkept as unkept
from graphscope.adapters.kit.value_policy import wanted as wanted
from graphscope.adapters.kit.versions import Versions as Versions
from graphscope.eventlog.training_marks import TrainingMarks as TrainingMarks
from graphscope.eventlog.writer import Writer as Writer
