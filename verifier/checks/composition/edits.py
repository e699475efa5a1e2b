"""Stages as edits that can be taken in another order than the listed one.

A patch's line numbers hold only in the listed order, so an edit is placed by its lines: a hunk
stands at its stated line if its old lines are there, else where they stand as the only place in
the file. A region is written as an installer writes it: each context exactly once at that moment
(the law of CHECKS "helper"). Whatever is not there, or there twice, does not apply.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from verifier.checks.composition.apply import Lines, places, stands
from verifier.checks.composition.orders import Edit, Files, TooMuchError
from verifier.checks.composition.patch import FilePatch, Patch
from verifier.checks.composition.patch_hunks import Hunk
from verifier.checks.helper.regions import Installed, Remainder, line_starts, occurrences
from verifier.core.limits import ORDER_SEARCHED_BYTES
from verifier.core.printable import printable

_MISSING: Final = "its context is not there"


class Swap(NamedTuple):
    """Bytes that stand exactly once in a file, and what is put in their place."""

    old: bytes
    new: bytes


def patch_edit(name: str, patch: Patch) -> Edit:
    """Return a stage that is a patch."""

    def take(files: Files) -> Files | str:
        found = dict(files)
        for change in patch.files:
            done = _patched(change, found.get(change.path))
            if isinstance(done, str):
                return f"{_shown(change.path)}: {done}"
            found[change.path] = done.data
        return found

    return Edit(name=name, take=take)


def region_edit(name: str, path: bytes, swaps: Sequence[Swap]) -> Edit:
    """Return a stage that writes regions into one file, in the order of `swaps`."""

    def take(files: Files) -> Files | str:
        data = files.get(path)
        if data is None:
            return f"{_shown(path)}: there is no such file"
        for swap in swaps:
            count = len(occurrences(data, swap.old)) if swap.old else 0
            if count != 1:
                where = _MISSING if not count else f"its context is there {count:,} times"
                return f"{_shown(path)}: {where}"
            data = data.replace(swap.old, swap.new)
        return {**files, path: data}

    return Edit(name=name, take=take)


def swaps_of(data: bytes, installed: Installed) -> tuple[Swap, ...]:
    """Return what an installer put into `data`: the helper first, then its sites in order.

    The helper's context is its end anchor; behind an end sentinel it is the line that follows.
    """
    helper = installed.helper
    follows = helper.anchor.text if helper.anchor else data[helper.end :].partition(b"\n")[0]
    follows = follows if helper.anchor else follows + b"\n"
    span = data[helper.start : helper.end]
    found = [Swap(follows, span + follows)]
    for site in installed.sites:
        block = data[site.start : site.end]
        found.append(Swap(site.site.without(block), block))
    return tuple(found)


def without(data: bytes, installed: Installed) -> bytes:
    """Return `data` as it was before an install, but for an import line."""
    return Remainder(data, installed.removed).data


class _Done(NamedTuple):
    data: bytes | None


def _patched(change: FilePatch, data: bytes | None) -> _Done | str:
    if (data is None) != (change.operation == "add"):
        return "there is no such file" if data is None else "the file exists already"
    before = data or b""
    starts = line_starts(before)
    lines = Lines(before)
    parts: list[bytes] = []
    at = searched = 0
    for hunk in change.hunks:
        searched += 0 if stands(lines, hunk.start, hunk) else len(before)
        if searched > ORDER_SEARCHED_BYTES:
            raise TooMuchError(f"{ORDER_SEARCHED_BYTES:,} bytes to look for moved hunks in")
        line = _line_of(lines, starts, hunk)
        if isinstance(line, str):
            return f"the hunk of line {hunk.at:,}: {line}"
        start = starts[line - 1]
        if start < at:
            return f"the hunk of line {hunk.at:,}: it stands before the one above it"
        parts += [before[at:start], hunk.new]
        at = start + len(hunk.old)
    after = b"".join([*parts, before[at:]])
    if change.operation == "delete":
        return "something is left of it" if after else _Done(None)
    return _Done(after)


def _line_of(lines: Lines, starts: Sequence[int], hunk: Hunk) -> int | str:
    if stands(lines, hunk.start, hunk):
        return hunk.start
    found = places(lines.data, starts, hunk)
    if len(found) != 1:
        return "its lines stand nowhere" if not found else f"its lines stand {len(found):,} times"
    return found[0]


def _shown(path: bytes) -> str:
    return printable(path.decode(errors="surrogateescape"))
