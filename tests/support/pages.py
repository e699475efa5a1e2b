"""Pages whose commands run as they stand: every block that is marked `sh`, in one shell."""

import os
import re
import subprocess
from pathlib import Path
from typing import Final

from support import runs

PROJECT: Final = Path(__file__).parents[2]


def walk(page: str, count: int, folder: Path) -> str:
    """Run the `count` blocks of a page in a folder, and return what they print.

    `CLONE` names this checkout, for pages that take files of it.
    """
    text = (PROJECT / "docs" / page).read_text()
    blocks = re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert len(blocks) == count
    script = "set -eu\n" + "".join(blocks)
    path = f"{runs.PROGRAM.parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-c", script],
        cwd=folder,
        env={"PATH": path, "HOME": str(folder / "home"), "LC_ALL": "C", "CLONE": str(PROJECT)},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode() + done.stdout.decode()
    assert not done.stderr
    return done.stdout.decode()
