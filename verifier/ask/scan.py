"""Whether a receipt, or anything beside it, holds what must not be published."""

from collections.abc import Sequence
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, BinaryIO, Final

from verifier.checks.receipt.rules.sanitised import KINDS, RULES
from verifier.checks.receipt.scan import loose
from verifier.checks.receipt.scan.secrets import Hit, Scan
from verifier.core.clock import print_time
from verifier.core.coverage import Covered, State
from verifier.core.digest import Digest
from verifier.core.errors import PinproofError, UnavailableError, WrongCallError
from verifier.core.finding import Finding, Where
from verifier.core.limits import RECEIPT_BYTES
from verifier.core.outcome import Failed, Outcome, Report, Result, Subject
from verifier.policy import judge
from verifier.sources import file

_DEMANDED: Final = frozenset({"sanitised"})
_NOT_PROVEN: Final = (
    "that no word without a dot is the name of a host",
    "that free text is no prompt, and no output",
    "what is encoded, compressed or split",
)
_RULES: Final = {kind: rule for rule in RULES for kind in KINDS.get(rule.id, ())}


def scan_receipts(
    names: Sequence[str], *, stdin: BinaryIO | None = None, clock: datetime | None = None
) -> Report:
    """Look at every file, JSON, JSON lines or text: verified if nothing was found.

    A finding has the kind, the place and the length of what was found, never its text. Raises
    `WrongCallError` if no file is given.
    """
    if not names:
        raise WrongCallError(
            "expected a file to scan, got none",
            code="wrong-call",
            remedy="pinproof scan receipt FILE..., all that is to be published",
        )
    now = clock or datetime.now(UTC)
    return Report(
        effective_time=print_time(now),
        past_time=False,
        registry=None,
        policy=None,
        results=tuple(_scanned(name, stdin, now) for name in names),
    )


def _scanned(name: str, stdin: BinaryIO | None, now: datetime) -> Result | Failed:
    try:
        data = file.read(name, limit=RECEIPT_BYTES, stdin=stdin).data
        read_as, scan = _looked_at(name, data)
    except PinproofError as error:
        return Failed.of(name, error)
    found = scan.counted.total()
    outcome = Outcome(
        kind="scan",
        identified=(),
        findings=tuple(map(_finding, scan.hits)),
        coverage=(
            Covered(
                facet="sanitised",
                state=State.NOT_HELD if found else State.HELD,
                detail=f"read as {read_as}, {found:,} found",
            ),
        ),
        not_proven=_NOT_PROVEN,
    )
    digest = Digest(kind="file", hex=sha256(data).hexdigest())
    subject = Subject(name=name, digests=(digest,), length=len(data))
    return judge(outcome, subject=subject, demanded=_DEMANDED, now=now)


def _looked_at(name: str, data: bytes) -> tuple[str, Scan]:
    """Scan as JSON if it is that, else line by line; say which. Raises `UnavailableError`."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise UnavailableError(
            f"{name}: is not UTF-8 at byte {error.start:,}, so it cannot be looked at",
            code="cannot-read",
            remedy="unpack or convert it, and scan what comes out",
        ) from None
    scan = Scan()
    document = _json(text)
    if document is not None:
        scan.document(document)
        return "JSON", scan
    parsed = 0
    for number, line in enumerate(text.split("\n"), 1):
        row = _json(line)
        if row is None:
            scan.text(line, first_line=number)
        else:
            parsed += 1
            scan.document(row, f"line {number}: ")
    return ("JSON lines" if parsed else "text"), scan


def _json(text: str) -> Any:
    """Return an object or a list, None for anything else."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        return loose.read(text)
    except ValueError:
        return None


def _finding(hit: Hit) -> Finding:
    rule = _RULES[hit.kind]
    size = "1 character" if hit.length == 1 else f"{hit.length:,} characters"
    return Finding(
        code=rule.code(),
        where=Where(path=hit.where),
        expected="none of them",
        got=f"{hit.kind}, {size}",
        remedy=rule.remedy,
    )
