"""docs/signing.md is run as it stands, in an empty folder, by a shell."""

import os
import re
import subprocess
from pathlib import Path

from support import runs

PAGE = Path(__file__).parents[2] / "docs" / "signing.md"


def test_the_commands_of_the_page_run(tmp_path: Path) -> None:
    blocks = re.findall(r"^```sh\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert len(blocks) == 6
    script = "set -eu\n" + "".join(blocks)
    path = f"{runs.PROGRAM.parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-c", script],
        cwd=tmp_path,
        env={"PATH": path, "HOME": str(tmp_path / "home"), "LC_ALL": "C"},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode() + done.stdout.decode()
    assert not done.stderr
    printed = done.stdout.decode()
    assert printed.count("\nwaiting ") == 2
    assert "root 2" in printed
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "first",
        "keys",
        "operator.root.json",
    ]
    private = sorted((tmp_path / "keys").glob("*.key"))
    assert len(private) == 6
    assert {path.stat().st_mode & 0o777 for path in private} == {0o600}
    # Signing with discarded keys would make the first root another one.
    first = (tmp_path / "first/metadata/1.root.json").read_bytes()
    assert first == (tmp_path / "operator.root.json").read_bytes()
