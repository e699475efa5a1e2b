"""Pinning a release, and the receipts that come with one: entries and rows to be reviewed.

What is pinned was read whole and agrees with itself, by the same check that `verify release` is;
only who made it is not known, because nothing of a release page is signed.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from verifier.ask.release import Judged, judged_folder
from verifier.catalog.entries import release_format
from verifier.catalog.entries.release import FORMATS, ReleaseEntry
from verifier.checks.release import grill
from verifier.core.clock import print_time
from verifier.core.digest import Pin
from verifier.core.errors import WrongCallError
from verifier.core.finding import Finding, Where
from verifier.core.outcome import Outcome, Report
from verifier.core.printable import printable
from verifier.core.strict import toml_value
from verifier.core.table import MalformedError
from verifier.core.value import frozen
from verifier.core.verdict import Verdict
from verifier.policy import judge
from verifier.sources.git.repository import resolve
from verifier.sources.release_folder import ReleaseFolder

_GRILL, _SUMS = FORMATS
_DEMANDED: Final = {
    _GRILL: frozenset({"files", "receipt", "members", "commit"}),
    _SUMS: frozenset({"files"}),
}
_TARGET: Final = re.compile(rf"({release_format.TRIPLE})=(.+)")


@frozen
class Pinned:
    """The report on what was read, and its entry, None if that is not verified."""

    report: Report
    entry: bytes | None


@frozen
class Wanted:
    """What its maintainer says of a release: name, project, tag, commit, format, targets.

    `targets` are `TRIPLE` of the build-receipt format, `TRIPLE=FILE` of plain files. `clone` is
    where the tag is looked up. `staging` are digests from before publication, with reasons.
    """

    name: str
    version: str
    project: str
    tag: str
    commit: str
    form: str = _GRILL
    targets: tuple[str, ...] = ()
    staging: tuple[tuple[str, str], ...] = ()
    clone: str | None = None


def release(folder: str, wanted: Wanted, *, now: datetime) -> Pinned:
    """Make the entry of the release whose files lie in a folder; nothing is written.

    Raises `WrongCallError` for what no entry can hold, `MalformedError` for values that the format
    does not take, `UnavailableError` if it cannot be read.
    """
    if not Path(folder).is_dir():
        raise WrongCallError(
            f"{printable(folder)}: expected a folder of downloads",
            code="wrong-call",
            remedy="name the folder that holds the files of the release page",
        )
    bare = _entry(wanted, ())
    parsed = _parsed(bare)
    read = ReleaseFolder(Path(folder), name=folder)
    plain = wanted.form == _SUMS
    triples = () if plain else wanted.targets
    judged = list(judged_folder(read, folder, parsed, triples))
    results = tuple(
        judge(
            _with_tag(each.outcome, wanted),
            subject=each.subject,
            demanded=_DEMANDED[wanted.form],
            now=now,
        )
        for each in judged
    )
    report = Report(
        effective_time=print_time(now),
        past_time=False,
        registry=None,
        policy=None,
        results=results,
    )
    if report.verdict is not Verdict.VERIFIED:
        return Pinned(report=report, entry=None)
    rows = _plain_rows(read, wanted.targets) if plain else _built_rows(read, parsed, judged)
    entry = _entry(wanted, rows)
    _parsed(entry)
    return Pinned(report=report, entry=entry)


def _with_tag(outcome: Outcome, wanted: Wanted) -> Outcome:
    """Add what the clone says of the tag, if one was given."""
    if wanted.clone is None:
        unproven = f"that the tag {printable(wanted.tag)} leads to that commit: no clone was given"
        return replace(outcome, not_proven=(*outcome.not_proven, unproven))
    meant = resolve(Path(wanted.clone), wanted.tag)
    if meant.oid == wanted.commit:
        return outcome
    finding = Finding(
        code="release-commit",
        where=Where(path=printable(wanted.tag)),
        expected=f"a tag of {wanted.commit}",
        got=f"{meant.what}" + (f", of {meant.oid}" if meant.oid else ""),
        remedy="name the commit that was released; a tag that was moved is another release",
    )
    return replace(outcome, findings=(*outcome.findings, finding))


def _built_rows(
    folder: ReleaseFolder, entry: ReleaseEntry, judged: Iterable[Judged]
) -> tuple[dict[str, Any], ...]:
    rows = []
    for each in judged:
        archive, checksum, receipt, _ = grill.names(entry, each.triple)
        pins = {"archive": archive, "checksum": checksum, "receipt": receipt}
        found = {key: _pin(folder.pin(name)) for key, name in pins.items()}
        rows.append({"triple": each.triple, **found})
    return tuple(rows)


def _plain_rows(folder: ReleaseFolder, targets: Iterable[str]) -> tuple[dict[str, Any], ...]:
    rows = []
    for target in targets:
        found = _TARGET.fullmatch(target)
        if found is None or found[2] not in folder.names():
            raise WrongCallError(
                f"--target {printable(target)}: expected TRIPLE=FILE, a file of the folder",
                code="wrong-call",
                remedy="name the archive of each target, such as "
                "--target x86_64-unknown-linux-gnu=tool-linux.tar.gz",
            )
        rows.append({"triple": found[1], "archive": _pin(folder.pin(found[2]))})
    if not rows:
        raise WrongCallError(
            "expected --target TRIPLE=FILE: a plain set of files does not say what each is for",
            code="wrong-call",
            remedy="name the archive of each target",
        )
    return tuple(rows)


def _pin(pin: Pin) -> dict[str, Any]:
    return {"sha256": pin.sha256, "length": pin.length}


def _entry(wanted: Wanted, rows: Iterable[Mapping[str, Any]]) -> bytes:
    head = {
        "schema": release_format.SCHEMA,
        "name": wanted.name,
        "project": wanted.project,
        "version": wanted.version,
        "tag": wanted.tag,
        "source_commit": wanted.commit,
        "format": wanted.form,
    }
    lines = [f"{key} = {toml_value(value)}" for key, value in head.items()]
    for row in rows:
        lines += ["", "[[target]]", *(f"{key} = {toml_value(value)}" for key, value in row.items())]
    for digest, reason in wanted.staging:
        lines += ["", "[[staging]]"]
        lines += [f"sha256 = {toml_value(digest)}", f"reason = {toml_value(reason)}"]
    return "\n".join([*lines, ""]).encode()


def _parsed(entry: bytes) -> ReleaseEntry:
    try:
        return release_format.parse(entry, "the entry")
    except MalformedError as error:
        remedy = "correct what was given; nothing was pinned"
        raise MalformedError("the entry", error.mistakes, remedy=remedy) from None
