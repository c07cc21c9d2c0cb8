"""Why something is as it is: a symptom, the evidence for it in the log, and the cure."""

from graphscope.diagnose.explain import explain as explain
from graphscope.diagnose.explain import explain_node as explain_node
from graphscope.diagnose.explanation import Explanation as Explanation
from graphscope.diagnose.explanation import Step as Step
