"""Makes docs/images/screen.svg: the digits sample, stopped in its backward pass (`make picture`)."""

import asyncio
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from graphscope.dap.adapter_thread import adapter  # noqa: E402
from graphscope.tui.app import GraphscopeApp  # noqa: E402
from graphscope.tui.glyphs import UNICODE  # noqa: E402
from graphscope.tui.live.program_session import ProgramSession  # noqa: E402

SAMPLE = ROOT / "samples" / "digits.py"
SIZE = (132, 38)
STOP = "op:relu backward"
PATIENCE = 60.0


async def draw(session: ProgramSession, picture: Path) -> None:
    """Go on to the stop, wait until the screen shows it, and save the screen."""
    app = GraphscopeApp(session.open_log(), session, glyphs=UNICODE)
    async with app.run_test(size=SIZE) as pilot:
        loop = asyncio.get_running_loop()
        end = loop.time() + PATIENCE
        while not ("Relu" in app.screen.query_one("#heading").text.plain and app.workers._workers == set()):
            if loop.time() > end:
                raise SystemExit(f"{SAMPLE.name} has not come to {STOP!r}")
            await pilot.pause(0.05)
        await pilot.press("3", "v")
        await pilot.pause(1.0)
        text = app.export_screenshot(title=f"graphscope debug {SAMPLE.name}")
    picture.write_text(text, encoding="utf-8")


def main() -> None:
    """Run the sample under the screen."""
    with adapter() as connection:
        session = ProgramSession(connection, SAMPLE.name)
        try:
            breakpoints, commands = [STOP], ["ignore 1 3", "c"]
            session.launch({"program": str(SAMPLE), "cwd": str(ROOT)}, breakpoints, commands)
            asyncio.run(draw(session, Path(__file__).with_suffix(".svg")))
        finally:
            session.close()


if __name__ == "__main__":
    main()
