"""Whether a folder of downloads is the release that was published."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from verifier.ask.answers import unregistered
from verifier.ask.trusted import Trust
from verifier.ask.trusted import trust as open_trust
from verifier.catalog.entries.release import ReleaseEntry
from verifier.catalog.refused import Refused
from verifier.checks.release import grill, published, sums
from verifier.checks.release.outcome import outcome
from verifier.checks.release.problem import problem
from verifier.core.coverage import Covered, State
from verifier.core.demand import FACETS
from verifier.core.digest import Digest, Pin
from verifier.core.errors import UnavailableError, WrongCallError
from verifier.core.finding import Finding
from verifier.core.limits import DOCUMENT_BYTES
from verifier.core.outcome import Outcome, Report, Subject
from verifier.core.value import frozen
from verifier.policy import judge
from verifier.sources.folder import Unusable
from verifier.sources.release_folder import ReleaseFolder

_ARCHIVE: Final = ".tar.gz"


@frozen
class Judged:
    """What was found of one target of a release, or of a plain set of files (`triple` empty)."""

    subject: Subject
    outcome: Outcome
    triple: str = ""


def verify_release(
    folder: str, *, expect: str, targets: Sequence[str] = (), trust: Trust | None = None
) -> Report:
    """Judge the downloads in a folder, one result for each target that is there.

    `expect` is the name of a release in the registry, `<tool>-<version>`. `targets` restricts the
    question to these triples, each of which then has to be there.

    Raises `WrongCallError` if the policy demands nothing of releases, `expect` is not registered,
    or `folder` is no folder.
    """
    trust = trust or open_trust()
    demanded = trust.policy.release
    if demanded is None:
        raise WrongCallError(
            f"policy {trust.policy.name} demands nothing of releases",
            code="wrong-call",
            remedy="judge with a policy that has a [release] table, such as strict",
        )
    if not Path(folder).is_dir():
        raise WrongCallError(
            f"{folder}: expected a folder of downloads",
            code="wrong-call",
            remedy="name the folder that holds the files of the release page",
        )
    catalog = trust.catalog
    judged: Iterator[Judged]
    if isinstance(catalog, Refused):
        judged = iter([Judged(subject=Subject(name=folder), outcome=_refused(catalog.findings))])
    elif expect not in catalog.names("release"):
        raise unregistered(expect, catalog.names("release"), option="--expect")
    else:
        entry = catalog.release(expect)
        if isinstance(entry, Refused):
            judged = iter([Judged(subject=Subject(name=folder), outcome=_refused(entry.findings))])
        else:
            judged = judged_folder(ReleaseFolder(Path(folder), name=folder), folder, entry, targets)
    return trust.report(
        tuple(
            judge(
                each.outcome,
                subject=each.subject,
                demanded=demanded,
                waivers=trust.policy.waivers,
                now=trust.now,
            )
            for each in judged
        )
    )


def judged_folder(
    folder: ReleaseFolder, name: str, entry: ReleaseEntry, targets: Sequence[str]
) -> Iterator[Judged]:
    """Check what lies in a folder by an entry: each target, or a plain set of files as one."""
    if entry.format == "sha256sums":
        subject, found = _plain(folder, name, entry)
        yield Judged(subject=subject, outcome=found)
        return
    here = tuple(targets) or _triples(folder.names(), entry)
    for triple in here:
        subject, found = _built(folder, name, entry, triple)
        yield Judged(subject=subject, outcome=found, triple=triple)
    if not here:
        nothing = outcome(entry, [_nothing(name, entry)], read=False)
        yield Judged(subject=Subject(name=name), outcome=nothing)


def _triples(names: Sequence[str], entry: ReleaseEntry) -> tuple[str, ...]:
    """Return the targets that names in the folder speak of."""
    start = re.escape(f"{entry.tool}-{entry.version}-")
    form = re.compile(rf"{start}([a-z0-9_]+(?:-[a-z0-9_]+)*)\..+")
    return tuple(sorted({found[1] for name in names if (found := form.fullmatch(name))}))


def _nothing(name: str, entry: ReleaseEntry) -> Finding:
    return problem(
        "release-not-here",
        name,
        expected=f"files called {entry.tool}-{entry.version}-TARGET{_ARCHIVE} and so on",
        got="none",
        remedy="name the folder that holds the files of the release page",
    )


def _built(
    folder: ReleaseFolder, name: str, entry: ReleaseEntry, triple: str
) -> tuple[Subject, Outcome]:
    """Judge the four files of one target."""
    archive, checksum, receipt, smoke = grill.names(entry, triple)
    subject = Subject(name=f"{name}/{archive}")
    findings = list(_four(folder, entry, triple))
    if findings:
        return subject, outcome(entry, findings, read=False)
    texts = [_read(folder, each) for each in (checksum, receipt, smoke)]
    unpacked = folder.unpack(archive)
    target = grill.Target(
        entry=entry,
        triple=triple,
        unpacked=unpacked,
        checksum=texts[0],
        receipt=texts[1],
        smoke=texts[2],
    )
    findings += grill.check(target)
    findings += published.check(
        entry,
        triple,
        {
            "archive": (archive, unpacked.pin),
            "checksum": (checksum, Pin.of(texts[0])),
            "receipt": (receipt, Pin.of(texts[1])),
        },
    )
    digest = Digest(kind="archive", hex=unpacked.pin.sha256)
    known = Subject(name=subject.name, digests=(digest,), length=unpacked.pin.length)
    return known, outcome(entry, findings, read=True)


def _four(folder: ReleaseFolder, entry: ReleaseEntry, triple: str) -> Iterator[Finding]:
    """Look whether exactly the four files of a target are there, each of them a file."""
    wanted = set(grill.names(entry, triple))
    there = {each for each in folder.names() if each.startswith(f"{grill.stem(entry, triple)}.")}
    for each in sorted(wanted ^ there):
        got = "not in the folder" if each in wanted else "one more"
        yield problem("release-files", each, expected="exactly four files of a target", got=got)
    for each in sorted(wanted & set(folder.irregular())):
        yield problem("release-files", each, expected="a file", got="a link or a folder")


def _read(folder: ReleaseFolder, name: str) -> bytes:
    data = folder.read(name, limit=DOCUMENT_BYTES)
    if isinstance(data, Unusable):
        raise UnavailableError(
            f"{name}: {data}", code="cannot-read", remedy="take the release from its page again"
        )
    return data


def _plain(folder: ReleaseFolder, name: str, entry: ReleaseEntry) -> tuple[Subject, Outcome]:
    """Judge a set of files under one list of checksums."""
    names = folder.names()
    lists = [each for each in sums.LISTS if each in names]
    if len(lists) != 1:
        got = ", ".join(lists) or "none"
        finding = problem(
            "release-not-here",
            name,
            expected=f"one list: {', '.join(sums.LISTS)}",
            got=got,
            remedy="name the folder that holds the files of the release page",
        )
        return Subject(name=name), outcome(entry, [finding], read=False)
    findings = [
        problem("release-files", each, expected="a file", got="a link or a folder")
        for each in folder.irregular()
    ]
    regular = [each for each in names if each not in folder.irregular()]
    pins = {each: folder.pin(each) for each in regular if each != lists[0]}
    findings += sums.check(lists[0], _read(folder, lists[0]), pins)
    findings += published.check_set(entry, name, pins)
    return Subject(name=name), outcome(entry, findings, read=True)


def _refused(findings: tuple[Finding, ...]) -> Outcome:
    return Outcome(
        kind="release",
        identified=(),
        findings=findings,
        coverage=tuple(
            Covered(facet=facet, state=State.NOT_CHECKED) for facet in FACETS["release"]
        ),
    )
