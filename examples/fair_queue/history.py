"""Make the repository in which `example-fair-queue` was published, commit by commit.

Everything is fixed, dates and names too, so the commits have the same ids wherever this runs.
`pins.toml` beside this file names them. Each commit holds the installer as it was published then,
the host that it is for, and that host with the version in it.

    python history.py fair-queue
"""

import argparse
import os
import runpy
import subprocess
from pathlib import Path
from typing import Any, Final

INSTALLER: Final[dict[str, Any]] = runpy.run_path(str(Path(__file__).with_name("installer.py")))
HOST: Final = Path(__file__).with_name("host.py")
#: Versions in the order of their commits. The text of v6 was made from a template.
HISTORY: Final = ("v1", "v2", "v5", "v5-main", "v6", "v6-carry")
TEMPLATED: Final = "v6"
ENVIRONMENT: Final = {
    "PATH": os.defpath,
    "HOME": "/nonexistent",
    "LC_ALL": "C",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    **{f"GIT_{who}_NAME": "Fair Queue" for who in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{who}_EMAIL": "fair-queue@example.org" for who in ("AUTHOR", "COMMITTER")},
}

PATCHER: Final = '''\
"""Write the fair share into a host of the queue: python patch_queue.py HOST"""

import sys
from pathlib import Path

NEEDLE = "from heapq import heapify, heappop, heappush\\n"
IMPORTS = ("import itertools\\nimport os\\nimport time\\n", "import itertools\\nimport time\\n")

{helper}
SITES = (
{sites})


def swap(text, old, new):
    if text.count(old) != 1:
        sys.exit(f"expected once: {{old}}")
    return text.replace(old, new)


def main(path):
    text = path.read_text()
    if IMPORTS[0] not in text:
        text = swap(text, IMPORTS[1], IMPORTS[0])
    text = swap(text, NEEDLE, HELPER + NEEDLE)
    for _, new, old in SITES:
        text = swap(text, old, new)
    path.write_text(text)


main(Path(sys.argv[1]))
'''


def patcher(version: str) -> str:
    """Return the installer as it was published with a version."""
    helper, sites = INSTALLER["VERSIONS"][version]
    if version == TEMPLATED:
        # As published: the text names no version, and the sites are those of v5.
        told = f"TEMPLATE = '''{helper.replace(':v6]', ':vN]')}'''\n"
        told += 'HELPER = TEMPLATE.replace(":vN]", ":v6]")\n'
    else:
        told = f"HELPER = '''{helper}'''\n"
    rows = "".join(f"    ({site.name!r}, '''{site.new}''', '''{site.old}'''),\n" for site in sites)
    return PATCHER.format(helper=told, sites=rows)


def git(folder: Path, *words: str, day: int = 1) -> None:
    """Run git in the new repository, as on a fixed day."""
    date = f"2026-03-{day:02d}T12:00:00Z"
    dates = {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
    environment = {**ENVIRONMENT, **dates}
    subprocess.run(["git", *words], cwd=folder, env=environment, check=True)  # noqa: S603, S607


def make(folder: Path) -> None:
    """Make the repository in a new folder."""
    for below in ("overlay", "hosts"):
        (folder / below).mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main")
    host = HOST.read_bytes()
    (folder / "hosts" / "clean.py").write_bytes(host)
    for day, version in enumerate(HISTORY, 1):
        (folder / "overlay" / "patch_queue.py").write_text(patcher(version))
        (folder / "hosts" / "patched.py").write_bytes(INSTALLER["install"](host, version))
        git(folder, "add", "-A")
        git(folder, "commit", "-q", "-m", f"The fair share, {version}", day=day)
    git(folder, "tag", "v6", "HEAD~1")


def main() -> None:
    """Make it where the command line says."""
    parser = argparse.ArgumentParser(description="Make the producer's repository.")
    parser.add_argument("folder", type=Path)
    make(parser.parse_args().folder)


if __name__ == "__main__":
    main()
