"""What a check of a composition says: one function makes each finding."""

from collections import Counter
from typing import Final

from verifier.catalog.entries.composition import Wanted
from verifier.checks.composition.expected import Expected, Past
from verifier.core.digest import Pin
from verifier.core.finding import Finding, Where
from verifier.core.printable import printable
from verifier.sources.tree import LINK_MODE, TreeEntry, Type

_STAGES_TOLD: Final = 4
_REINSTALL: Final = "install the composition again from its sources, whole"
_TYPES: Final = {Type.LINK: "a link", Type.GITLINK: "a submodule", Type.SPECIAL: "a special file"}


def counted(number: int) -> str:
    """Print a number of files."""
    return "1 file" if number == 1 else f"{number:,} files"


def earlier(wanted: Expected, stage: int, what: str) -> Finding:
    """Say that all of a tree is as an earlier stage left it."""
    return Finding(
        code="composition-earlier-stage",
        expected=f"stage {wanted.stages[-1]}, the last of {len(wanted.stages) - 1}",
        got=f"stage {wanted.stages[stage]}: {what}" if stage else f"the base: {what}",
        cause="the stages after it were not applied, or were taken back",
        remedy="apply the stages that are missing, in their order, or install again from the start",
    )


def file_stage(path: bytes, entry: TreeEntry | None, past: Past, wanted: Expected) -> Finding:
    """Say that a file is as an earlier stage left it, or that it is not there yet."""
    file = wanted.files.get(path)
    got = _got(entry) if entry else "nothing"
    when = f"as stage {wanted.stages[past.first]} left it" if past.first else "before all stages"
    return Finding(
        code="composition-file-stage",
        where=_where(path),
        expected=f"{pinned(file) if file else 'nothing'}, as stage {wanted.stages[-1]} leaves it",
        got=f"{got}, {when}",
        remedy=_REINSTALL,
    )


def mixed(wanted: Expected, last: list[int], unknown: int) -> Finding:
    """Say that files stand at several stages; `last` are the numbers of those, once a file."""
    counts = Counter(last)
    told = [
        f"{counts[number]:,} at {wanted.stages[number]}" for number in sorted(counts, reverse=True)
    ]
    shown = told[:_STAGES_TOLD] + (["…"] if len(told) > _STAGES_TOLD else [])
    return Finding(
        code="composition-mixed",
        expected=f"{counted(len(wanted.histories))} at {wanted.stages[-1]}",
        got=", ".join([*shown, *([f"{unknown:,} at none"] if unknown else [])]),
        cause="some stages were applied to some files, or files were taken from another install",
        remedy=_REINSTALL,
    )


def _shown(path: bytes) -> str:
    return printable(path.decode(errors="surrogateescape"))


def _where(path: bytes) -> Where:
    return Where(path=_shown(path))


def pinned(file: Wanted) -> str:
    """Print the pin of a file."""
    return str(Pin(sha256=file.sha256, length=file.length))


def _got(entry: TreeEntry) -> str:
    if entry.type is Type.LINK:
        return f"a link to {_shown(entry.target or b'')}"
    if entry.sha256 is None:
        return _TYPES.get(entry.type, "a file that could not be read")
    return str(Pin(sha256=entry.sha256, length=entry.length))


def other_type(path: bytes, entry: TreeEntry, file: Wanted | None) -> Finding:
    """Say that a path is no file, link or folder as it had to be."""
    wants = "a folder" if file is None else "a link" if file.mode == LINK_MODE else "a file"
    return Finding(
        code="composition-type",
        where=_where(path),
        expected=wants,
        got=_got(entry) if entry.type is not Type.FILE else "a file",
        cause="links are never followed: they can show other bytes to each reader"
        if entry.type is Type.LINK
        else None,
        remedy="put the pinned file in its place, or name the folder that holds it",
    )


def a_folder(path: bytes) -> Finding:
    """Say that a folder stands where a file has to be."""
    return Finding(
        code="composition-type",
        where=_where(path),
        expected="a file",
        got="a folder",
        remedy="remove the folder, and put the pinned file in its place",
    )


def special(path: bytes) -> Finding:
    """Say that a device, FIFO or socket lies in the scope."""
    return Finding(
        code="composition-type",
        where=_where(path),
        expected="files, links and folders",
        got="a special file",
        remedy="remove it from the scope of the composition",
    )


def unread(path: bytes, file: Wanted) -> Finding:
    """Say that the source could not give the bytes of a file."""
    return Finding(
        code="composition-unread",
        where=_where(path),
        expected=pinned(file),
        got="no bytes",
        cause="another finding of the source says why",
        remedy="verify a source that holds all of its files, such as a full clone",
    )


def missing(path: bytes, file: Wanted) -> Finding:
    """Say that a file is not there, and no stage lacks it."""
    return Finding(
        code="composition-missing",
        where=_where(path),
        expected=pinned(file),
        got="nothing",
        remedy=_REINSTALL,
    )


def changed(path: bytes, entry: TreeEntry, file: Wanted, cause: str | None) -> Finding:
    """Say that a file has bytes that no stage gives it."""
    return Finding(
        code="composition-changed",
        where=_where(path),
        expected=pinned(file),
        got=_got(entry),
        cause=cause,
        remedy="restore the pinned file, and find out who changed it",
    )


def line_ends(path: bytes, entry: TreeEntry, file: Wanted, ends: str) -> Finding:
    """Say that a file was converted; `ends` names how."""
    return Finding(
        code="composition-line-ends",
        where=_where(path),
        expected=pinned(file),
        got=_got(entry),
        cause=ends,
        remedy="take the bytes from the commit, not from a work tree that converts line ends",
    )


def not_retained(path: bytes, file: Wanted, row: str, entry: TreeEntry | None) -> Finding:
    """Say that a file that had to stay is not as it was."""
    return Finding(
        code="composition-retained",
        where=_where(path),
        expected=f"{pinned(file)}, of {row}",
        got=_got(entry) if entry else "nothing",
        cause=None if entry else "it is missing",
        remedy="restore the file that the base came with",
    )


def not_deleted(path: bytes, entry: TreeEntry) -> Finding:
    """Say that a file that a stage deletes is there, with bytes of its own."""
    return Finding(
        code="composition-not-deleted",
        where=_where(path),
        expected="nothing",
        got=_got(entry),
        remedy=_REINSTALL,
    )


def collision(path: bytes, other: bytes) -> Finding:
    """Say that an unlisted name folds together with a listed one."""
    return Finding(
        code="composition-collision",
        where=_where(path),
        expected=f"only {_shown(other)}",
        got="both names",
        cause="they differ in case or Unicode form alone; where that does not count, one file "
        "takes the place of the other",
        remedy="remove the one that the composition does not list",
    )


def unlisted(entry: TreeEntry) -> Finding:
    """Say that a file is not listed."""
    return Finding(
        code="composition-unlisted",
        where=_where(entry.path),
        expected="only the files that the composition lists",
        got=_got(entry),
        remedy="find out where it comes from; remove it, or install again into an empty folder",
    )


def bytecode(paths: list[bytes]) -> Finding:
    """Say that Python has left compiled files."""
    return Finding(
        code="composition-bytecode",
        where=_where(min(paths)),
        expected="no compiled files",
        got=f"{counted(len(paths))} in __pycache__",
        cause="Python writes them at the first import, and may load them in place of the sources",
        remedy="remove the __pycache__ folders, or judge before the first import",
    )


def other_mode(path: bytes, got: int, wants: int) -> Finding:
    """Say that a file has another mode."""
    return Finding(
        code="composition-mode",
        where=_where(path),
        expected=f"mode {wants:o}",
        got=f"mode {got:o}",
        remedy="restore the pinned mode, as git or the installer sets it",
    )


def unknown_modes(count: int) -> Finding:
    """Say of how many files the source carries no mode."""
    return Finding(
        code="composition-mode-unknown",
        expected="a mode of every file",
        got=f"none of {counted(count)}",
        cause="the format does not carry modes",
        remedy="verify a source that carries modes: a folder, a commit or a tar",
    )


def unpinned_modes(count: int) -> Finding:
    """Say of how many files the entry pins no mode."""
    return Finding(
        code="composition-mode-unpinned",
        expected="a pinned mode of every file",
        got=f"none for {counted(count)}",
        remedy="judge with a policy that does not demand modes, such as region",
    )
