"""The commands of docs/head.md run as they stand, and print what the page shows."""

import re
from pathlib import Path
from typing import Final

from support.pages import PROJECT, walk

_SHOWN: Final = re.compile(r"^```\n((?:verified|undecided) .*?)^```$", re.MULTILINE | re.DOTALL)


def _neutral(text: str) -> str:
    return re.sub(r"\b[0-9a-f]{12}\b", "<id>", text)


def test_the_commands_of_the_page_run(tmp_path: Path) -> None:
    printed = _neutral(walk("head.md", 8, tmp_path))
    assert printed.count("head-draft: the pull request says that it is a draft") == 1
    shown = _SHOWN.findall((PROJECT / "docs/head.md").read_text())
    assert len(shown) == 5
    for part in (part for block in shown for part in block.split("  …\n")):
        before, found, printed = printed.partition(_neutral(part).rstrip("\n"))
        assert found, (part, before)
