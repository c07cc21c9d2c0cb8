"""What is wrong with a run, and why a tensor is as it is: symptoms, the evidence for them in the log, and the cure."""

from graphscope.diagnose.check_table import Check as Check
from graphscope.diagnose.check_table import every as every
from graphscope.diagnose.doctor import doctor as doctor
from graphscope.diagnose.doctor import examined as examined
from graphscope.diagnose.explain import explain as explain
from graphscope.diagnose.explain import explain_node as explain_node
from graphscope.diagnose.explanation import Explanation as Explanation
from graphscope.diagnose.explanation import Step as Step
from graphscope.diagnose.finding import Finding as Finding
from graphscope.diagnose.finding import Row as Row
from graphscope.diagnose.report import Report as Report
from graphscope.diagnose.report import Unjudged as Unjudged
