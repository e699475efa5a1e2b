"""Two trees against each other: which paths differ, and what did it.

1. *Paths*: what one side has and the other lacks.
2. *Types*: a file here, a link or gitlink there.
3. *Content*: length and SHA-256 of files, targets of links, commits of gitlinks.
4. *Modes*: only where both sides carry one; unknown is not equal, and said once.
5. *Causes*: of differing files, the one known change that explains it (git changes bytes on the
   way to a work tree, group I of the reference troubles): CRLF, byte order mark, final newline,
   white space, `$Id$`, export-subst, an LFS pointer.
"""

import re
from collections.abc import Callable, Iterable
from typing import Final

from verifier.core.coverage import Covered, State
from verifier.core.finding import Finding, Where
from verifier.core.outcome import Outcome
from verifier.core.printable import printable
from verifier.sources.tree import TreeEntry

#: Returns the bytes of a path on both sides, None where they are not to be had.
Contents = Callable[[bytes], tuple[bytes | None, bytes | None]]

_LFS: Final = re.compile(
    rb"version https://git-lfs\.github\.com/spec/v1\n(?:[^\n]*\n)*?oid sha256:[0-9a-f]{64}\n"
)
_IDENT: Final = re.compile(rb"\$Id(?::[^$\n]*)?\$")
_FORMAT: Final = re.compile(rb"\$Format:[^$\n]*\$")
#: Differing files whose bytes are looked at for a cause.
_EXPLAINED: Final = 50


def compare(left: Iterable[TreeEntry], right: Iterable[TreeEntry], contents: Contents) -> Outcome:
    """Compare two lists of entries; facets `content` and `modes`."""
    one = {entry.path: entry for entry in left}
    other = {entry.path: entry for entry in right}
    findings: list[Finding] = []
    unknown = looked_at = 0
    for path in sorted(one.keys() | other.keys()):
        here, there = one.get(path), other.get(path)
        if here is None or there is None:
            findings.append(_only_on_one_side(path, here))
        elif here.type is not there.type:
            findings.append(_differs("diff-type", path, str(here.type), str(there.type)))
        elif (here.length, here.sha256, here.target) != (there.length, there.sha256, there.target):
            cause = None
            if looked_at < _EXPLAINED:
                looked_at += 1
                cause = why_different(*contents(path))
            findings.append(_differs("diff-content", path, _told(here), _told(there), cause))
        elif here.mode is None or there.mode is None:
            unknown += 1
        elif here.mode != there.mode:
            modes = f"mode {here.mode:o}", f"mode {there.mode:o}"
            findings.append(_differs("diff-mode", path, *modes))
    if unknown:
        findings.append(_unknown_modes(unknown))
    return Outcome(
        kind="diff",
        identified=(),
        findings=tuple(findings),
        coverage=_coverage(findings, len(one), len(other)),
        not_proven=("what neither side's format carries: owners, times, extended attributes",),
    )


def why_different(one: bytes | None, other: bytes | None) -> str | None:
    """Name the one known change between two contents of a file, if there is one."""
    if one is None or other is None:
        return None
    for name, undo in _CHANGES:
        for changed, plain, side in ((other, one, "second"), (one, other, "first")):
            if undo(changed) != changed and undo(changed) == undo(plain):
                return f"{name} in the {side}"
    return _lfs_or_subst(one, other)


def _lines_lf(data: bytes) -> bytes:
    return data.replace(b"\r\n", b"\n")


def _no_bom(data: bytes) -> bytes:
    return data.removeprefix(b"\xef\xbb\xbf")


def _final_newline(data: bytes) -> bytes:
    return data.removesuffix(b"\n") if data.endswith(b"\n") else data


def _no_trailing_space(data: bytes) -> bytes:
    return re.sub(rb"[ \t]+(?=\n|\Z)", b"", data)


def _no_ident(data: bytes) -> bytes:
    return _IDENT.sub(b"$Id$", data) if b"$Id:" in data else data


_CHANGES: Final[tuple[tuple[str, Callable[[bytes], bytes]], ...]] = (
    ("line ends were converted to CRLF", _lines_lf),
    ("a byte order mark was put in front", _no_bom),
    ("there is one more final newline", _final_newline),
    ("there is white space at line ends", _no_trailing_space),
    ("$Id$ was expanded (ident)", _no_ident),
)


def _lfs_or_subst(one: bytes, other: bytes) -> str | None:
    """Name a pointer of Git LFS or an expanded export-subst, which undo alone cannot show."""
    if bool(_LFS.match(one)) != bool(_LFS.match(other)):
        return f"the {'first' if _LFS.match(one) else 'second'} is a pointer of Git LFS, no content"
    for plain, side in ((one, "second"), (other, "first")):
        formats = _FORMAT.findall(plain)
        full = other if plain is one else one
        if formats and not _FORMAT.search(full) and _matches(plain, full):
            return f"$Format$ was expanded (export-subst) in the {side}"
    return None


def _matches(plain: bytes, expanded: bytes) -> bool:
    """Whether `expanded` is `plain` with something on one line in the place of each `$Format$`.

    Each part is looked for once, from where the last one ended: a hostile file costs no more.
    """
    first, *parts = _FORMAT.split(plain)
    if not expanded.startswith(first):
        return False
    at = len(first)
    for number, part in enumerate(parts, 1):
        last = number == len(parts)
        found = len(expanded) - len(part) if last else expanded.find(part, at)
        if found < at or not expanded.startswith(part, found) or b"\n" in expanded[at:found]:
            return False
        at = found + len(part)
    return True


# ── findings ───────────────────────────────────────────────────────────────────────────────────


def _shown(path: bytes) -> str:
    return printable(path.decode(errors="surrogateescape"))


def _told(entry: TreeEntry) -> str:
    if entry.sha256 is None:
        return f"commit {(entry.target or b'').decode()}"
    if entry.target is not None:
        return f"a link to {_shown(entry.target)}"
    return f"{entry.sha256} · {entry.length or 0:,} bytes"


def _only_on_one_side(path: bytes, here: TreeEntry | None) -> Finding:
    return Finding(
        code="diff-missing" if here else "diff-added",
        where=Where(path=_shown(path)),
        expected="the path in both" if here else "the path in neither",
        got="only in the first" if here else "only in the second",
        remedy="compare the sources that were meant; pinproof list tree shows what each holds",
    )


def _differs(code: str, path: bytes, here: str, there: str, cause: str | None = None) -> Finding:
    return Finding(
        code=code,
        where=Where(path=_shown(path)),
        expected=here,
        got=there,
        cause=cause,
        remedy="take both from where they were pinned, without tools that change bytes",
    )


def _unknown_modes(count: int) -> Finding:
    return Finding(
        code="diff-mode-unknown",
        expected="a mode on both sides",
        got=f"none on one side for {counted(count)}",
        cause="the format does not carry modes",
        remedy="compare with a source that carries modes, such as a commit or a tar",
    )


def counted(number: int) -> str:
    """Print a number of entries."""
    return "1 entry" if number == 1 else f"{number:,} entries"


def _coverage(findings: list[Finding], left: int, right: int) -> tuple[Covered, ...]:
    codes = {finding.code for finding in findings}
    content = State.NOT_HELD if codes - {"diff-mode", "diff-mode-unknown"} else State.HELD
    modes = State.NOT_HELD if codes & {"diff-mode", "diff-mode-unknown"} else State.HELD
    counts = counted(left) if left == right else f"{left:,} and {right:,} entries"
    return (
        Covered(facet="content", state=content, detail=counts),
        Covered(facet="modes", state=modes, detail="the same" if modes.holds else "see above"),
    )
