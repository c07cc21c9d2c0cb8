"""A real Neovim with nvim-dap does every job; each message, either way, is held to the schema.

What nvim-dap says is what `test_sequences.py` says again where there is no Neovim.
`GRAPHSCOPE_NVIM_DAP` names the folder of the plugin.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.dap.neovim.jobs import FILE, JOBS, Job
from tests.dap.neovim.sequences import read, sequence_of
from tests.dap.neovim.window import do, missing
from tests.dap.talking import check

pytestmark = [pytest.mark.torch, pytest.mark.slow, pytest.mark.skipif(bool(missing()), reason=missing())]


@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.name)
def test_neovim_does_it(job: Job, tmp_path: Path) -> None:
    folder, home = tmp_path / "folder", tmp_path / "home"
    folder.mkdir()
    home.mkdir()
    seen, said = do(job, folder, home)
    assert seen.complaints == []
    assert {stop.file for stop in seen.stops} == {FILE}
    job.check(seen)
    for each in said:
        check(each.message)
    assert sequence_of(said, folder) == read(job.name), "`make sequences` records anew what nvim-dap says"
