"""Records anew what nvim-dap says in each job: `python -m tests.dap.neovim.record [NAME ...]`.

`GRAPHSCOPE_NVIM_DAP` names the folder of the plugin, which is called as its version: `nvim-dap-0.10.0`.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.dap.neovim.jobs import JOBS
from tests.dap.neovim.sequences import FOLDER, sequence_of, write
from tests.dap.neovim.window import PLUGIN, do, missing


def main(names: list[str]) -> None:
    """Record some jobs, or all."""
    if missing():
        raise SystemExit(missing())
    for job in JOBS:
        if not names or job.name in names:
            with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as home:
                seen, said = do(job, Path(folder), Path(home))
                assert seen.complaints == []
                job.check(seen)
                write(FOLDER / PLUGIN.name / f"{job.name}.json", sequence_of(said, Path(folder)))


if __name__ == "__main__":
    main(sys.argv[1:])
