"""The object that a mistyped id may have meant: a hint to copy, never an answer.

A wrong digit spreads into every place that an id is copied to (anchors, group K). Only whoever has
made the mistake pays for looking through all ids of the store.
"""

import re
import subprocess
from pathlib import Path
from typing import Final

from verifier.core.limits import GIT_MERGE_SECONDS
from verifier.sources.git.process import environment, find_git

_LINE: Final = re.compile(rb"([0-9a-f]{40}|[0-9a-f]{64}) commit")
_ALL: Final = ("--batch-all-objects", "--unordered", "--batch-check=%(objectname) %(objecttype)")
#: Digits that may be wrong, at most; and how many have to agree at one end.
_MOST: Final = 3
_SHARED: Final = 6


def nearest_commit(folder: Path, oid: str) -> str | None:
    """Return the one commit of the store at `folder` that differs least from `oid`, if any does.

    Up to three digits may be wrong, left out or too many.
    """
    try:
        done = subprocess.run(  # noqa: S603  (an absolute path and words of ours)
            [find_git().path, "cat-file", *_ALL],
            env=environment(folder),
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=GIT_MERGE_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None
    names = (found[1].decode() for found in map(_LINE.fullmatch, done.stdout.splitlines()) if found)
    best = sorted((apart, name) for name in names if (apart := _apart(oid, name)) <= _MOST)
    alone = len(best) == 1 or (len(best) > 1 and best[0][0] < best[1][0])
    return best[0][1] if alone else None


def _apart(one: str, other: str) -> int:
    """Count the digits to change, add or drop until one id is the other, as far as it matters.

    Ids that agree neither in their first nor in their last digits are not compared further.
    """
    if one[:_SHARED] != other[:_SHARED] and one[-_SHARED:] != other[-_SHARED:]:
        return _MOST + 1
    row = list(range(len(other) + 1))
    for at, digit in enumerate(one, 1):
        before, row[0] = row[0], at
        for number, right in enumerate(other, 1):
            cost = before + (digit != right)
            before = row[number]
            row[number] = min(cost, before + 1, row[number - 1] + 1)
    return row[-1]
