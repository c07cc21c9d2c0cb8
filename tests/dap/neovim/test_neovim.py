"""A real Neovim with nvim-dap does every job; each message, either way, is held to the schema.

What nvim-dap says is what `test_sequences.py` says again where there is no Neovim.
`GRAPHSCOPE_NVIM_DAP` names the folder of the plugin, which is called as its version: `nvim-dap-0.10.0`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.dap.neovim.jobs import FILE, JOBS, Job
from tests.dap.neovim.sequences import FOLDER, read, sequence_of
from tests.dap.neovim.window import PLUGIN, do, missing
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
    kept = FOLDER / PLUGIN.name / f"{job.name}.json"
    if kept.exists():  # else it is a version of which none are
        assert sequence_of(said, folder) == read(kept), "`make sequences` records anew what nvim-dap says"
