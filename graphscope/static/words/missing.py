"""What programs of TensorFlow 1 may ask for that is not here, and what to do in its place."""

from __future__ import annotations

import difflib
from typing import Final

from graphscope.errors import StaticError


class AbsentError(StaticError, AttributeError):
    """Something of TensorFlow's that graphscope does not have."""


_DATA: Final = "feed arrays: session.run(fetches, feed_dict={placeholder: batch})"
_OPTIONS: Final = "leave it out: there is one machine, and Session() needs no options"
_PARTS: Final = "fetch what the first part gives, and feed it to the second run: any tensor can be fed"
_LAYERS: Final = "write the layer out: tf.get_variable(...) and tf.matmul(x, w) + b, or train with graphscope.nn"

HINTS: Final[dict[str, str]] = {
    "summary": "record the runs: `graphscope record program.py` keeps every value, `graphscope open` shows them",
    "layers": _LAYERS,
    "contrib": _LAYERS,
    "keras": "use graphscope.nn, which runs as it is defined",
    "estimator": "write the loop: for batch in batches: session.run(train, feed_dict=...)",
    "data": _DATA,
    "FIFOQueue": _DATA,
    "RandomShuffleQueue": _DATA,
    "train.batch": _DATA,
    "train.shuffle_batch": _DATA,
    "train.Coordinator": _DATA,
    "train.start_queue_runners": _DATA,
    "train.MonitoredTrainingSession": "use Session() and train.Saver()",
    "train.SummaryWriter": "record the runs: `graphscope record program.py`",
    "ConfigProto": _OPTIONS,
    "GPUOptions": _OPTIONS,
    "RunOptions": _OPTIONS,
    "RunMetadata": "record the runs: `graphscope record program.py` keeps times and values of every node",
    "app": "use argparse, and call main()",
    "flags": "use argparse",
    "gfile": "use pathlib.Path",
    "logging.info": "use Python's logging",
    "NodeStepper": "step through the run: `graphscope debug program.py`, where `set value` overrides what a node gave",
    "Session.partial_run": _PARTS,
    "Session.partial_run_setup": _PARTS,
    "SparseTensor": "use a dense tensor: tf.constant(...)",
    "function": "use graphscope.jit.trace or graphscope.jit.script",
    "GradientTape": "graphscope itself runs so: import graphscope as gs, and loss.backward()",
    "import_graph_def": "graphscope.static.importing.load_model reads TorchScript, torch.export and ONNX",
}
"""Of names in `graphscope.static`, and in its modules with their name before: what to do."""


MODULES: Final = frozenset(
    {
        "math",
        "linalg",
        "random",
        "losses",
        "initializers",
        "bitwise",
        "dtypes",
        "manip",
        "debugging",
        "image",
        "logging",
    }
)
"""Modules of TensorFlow's, some of whose functions are here."""

NUMBERS: Final = {
    f"logging.{name}": number
    for name, number in (("DEBUG", 10), ("INFO", 20), ("WARN", 30), ("ERROR", 40), ("FATAL", 50))
}
"""Names of numbers."""

TENSORFLOWS: Final = frozenset(
    {"is_tensor", "polygamma", "qr", "scatter_add", "svd", "nn.avg_pool1d", "nn.avg_pool3d", "nn.conv3d", "nn.ctc_loss",
     "nn.max_pool1d", "nn.max_pool3d"}
)  # fmt: skip
"""What TensorFlow means something else by than the engine, and is not offered."""


def absent(name: str) -> AbsentError:
    """The error of asking for something that is not there.

    Args:
        name: As it is written behind `graphscope.static.`.
    """
    return AbsentError(f"graphscope.static has no {name!r}", hint=HINTS.get(name) or _near(name))


def _near(name: str) -> str:
    from graphscope.static.words.offering import OFFERED

    like = difflib.get_close_matches(name, OFFERED, 3, 0.75)
    if like:
        return f"did you mean {' or '.join(like)}?"
    return "write it with functions that are there: `dir(graphscope.static)` and the page on sessions list them"
