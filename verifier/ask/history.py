"""What a maintainer's clone holds, by name: where the versions of a text were published.

It is the page from which a recipe is written: full commit ids, their tags, and the pin of the text
in each. Names come from `sources.explore`, which believes only what its objects say too.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from verifier.ask.answers import Answer, Answered
from verifier.checks.helper.pinning import text
from verifier.checks.helper.pinning.recipe import Origin
from verifier.core.clock import print_time
from verifier.core.digest import Pin
from verifier.core.finding import Finding
from verifier.core.limits import HOST_BYTES
from verifier.core.outcome import Report
from verifier.core.printable import cut, printable
from verifier.sources import explore
from verifier.sources.folder_tree import FolderTree
from verifier.sources.git.tree import GitTree
from verifier.sources.tree import FILE_MODE, PROGRAM_MODE, TreeEntry, Type

_MOST_NAMES = 40


def list_history(
    clone: str,
    *,
    path: str | None = None,
    symbol: str | None = None,
    tip: str | None = None,
    now: datetime,
) -> Answered:
    """List names of a clone, and the commits that touched `path`, newest first.

    `symbol` names a text in that file, whose pin in each commit is told. `tip` is where to begin.
    Raises `UnavailableError` for a clone that cannot be explored.
    """
    found = explore.history(Path(clone), path=path, tip=tip)
    named: dict[str, list[str]] = {}
    for name in found.names:
        named.setdefault(name.commit, []).append(f"{name.kind} {name.name}")
    answers = [_of_clone(clone, found, listed=path is None)]
    answers += [_of_step(clone, step, named, path or "", symbol) for step in found.steps]
    if path is not None and not found.steps:
        answers.append(
            Answer(
                known=False,
                name=printable(path),
                headline=f"no commit from {tip or found.head} back touched {printable(path)}",
            )
        )
    report = Report(
        effective_time=print_time(now), past_time=False, registry=None, policy=None, results=()
    )
    return Answered(question="history", answers=tuple(answers), report=report)


def is_clean(clone: Path, commit: str) -> tuple[bool, str]:
    """Compare the work tree, as we walk it, with the commit's blobs: path, mode and content."""
    tree = GitTree(clone, commit, name=f"git:{clone}@{commit}")
    folder = FolderTree(clone, name=str(clone))
    there = {e.path: _facts(e) for e in tree.entries() if e.type is not Type.GITLINK}
    here = {e.path: _facts(e) for e in folder.entries()}
    if not tree.complete or not folder.complete:
        return False, "not compared: one of the two could not be read whole"
    differ = sorted(p for p in there.keys() | here.keys() if there.get(p) != here.get(p))
    if not differ:
        return True, f"clean: {len(there):,} files are those of the commit"
    shown = ", ".join(printable(p.decode(errors="surrogateescape")) for p in differ[:3])
    more = f" and {len(differ) - 3:,} more" if len(differ) > 3 else ""  # noqa: PLR2004
    return False, f"not clean: {shown}{more} are not as in the commit"


def _facts(entry: TreeEntry) -> tuple[Any, ...]:
    mode = entry.mode
    if entry.type is Type.FILE and mode is not None:
        mode = PROGRAM_MODE if mode & 0o100 else FILE_MODE
    return entry.type, mode, entry.sha256, entry.target


def _of_clone(clone: str, found: explore.History, *, listed: bool) -> Answer:
    rows = [("head", found.head)]
    if (Path(clone) / ".git").exists():
        rows.append(("work tree", is_clean(Path(clone), found.head)[1]))
    shown = found.names[:_MOST_NAMES] if listed else ()
    rows += [(name.kind, f"{name.name} {name.commit}") for name in shown]
    if listed and len(found.names) > _MOST_NAMES:
        rows.append(("names", f"{len(found.names) - _MOST_NAMES:,} more (--format json lists all)"))
    rows += [("not so", _words(finding)) for finding in found.findings]
    if found.cut:
        rows.append(("commits", f"only the latest {len(found.steps):,} were looked at"))
    data = {
        "head": found.head,
        "names": [{"kind": n.kind, "name": n.name, "commit": n.commit} for n in found.names],
        "contradicted": [_words(finding) for finding in found.findings],
    }
    return Answer(
        known=not found.findings,
        name=printable(clone),
        headline=f"{printable(clone)}: {len(found.names):,} names",
        rows=tuple(rows),
        data=data,
    )


def _words(finding: Finding) -> str:
    return f"{finding.expected}, but {finding.got}"


def _of_step(
    clone: str, step: explore.Step, named: Mapping[str, list[str]], path: str, symbol: str | None
) -> Answer:
    names = named.get(step.commit, [])
    rows = [("names", ", ".join(names))] if names else []
    rows.append(("subject", cut(step.subject)))
    rows.append(("said time", print_time(datetime.fromtimestamp(step.time, UTC))))
    data: dict[str, Any] = {"commit": step.commit, "blob": step.blob, "names": names}
    if step.blob is None:
        rows.append(("text", "the file was removed"))
    elif symbol is not None:
        tree = GitTree(Path(clone), step.commit, name=f"git:{clone}@{step.commit}")
        content = tree.read(path.encode(errors="surrogateescape"), limit=HOST_BYTES)
        origin = Origin(repository="", commit=step.commit, path=path, symbol=symbol)
        one = None if content is None else text.find(content, origin, ())
        if one is None or isinstance(one, Finding):
            rows.append(("text", "not read" if one is None else f"{one.code}: {one.got}"))
        else:
            pin = Pin.of(one.text)
            rows.append(("text", f"{one.method} {one.symbol}, line {one.line}: {pin}"))
            data |= {"method": one.method, "sha256": pin.sha256, "length": pin.length}
    return Answer(known=True, name=step.commit, headline=step.commit, rows=tuple(rows), data=data)
