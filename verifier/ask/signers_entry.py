"""Signers of the registry in words: for `list`, and for `show`."""

from collections.abc import Iterator

from verifier.ask.answers import Answer
from verifier.catalog.entries.signers import Signer, SignersEntry
from verifier.core.clock import print_time
from verifier.core.digest import sha256
from verifier.core.printable import printable

Row = tuple[str, str]


def listed_signers(entry: SignersEntry) -> Answer:
    """Return what `list` says of signers: their names."""
    return Answer(
        known=True,
        name=entry.name,
        headline=f"signers {entry.name}",
        rows=(
            ("signers", ", ".join(signer.name for signer in entry.signers)),
            ("project", entry.project),
        ),
        data={
            "kind": "signers",
            "entry": entry.name,
            "signers": [signer.name for signer in entry.signers],
        },
    )


def shown_signers(entry: SignersEntry) -> Answer:
    """Return what `show` says of signers: who each is, what they may sign, and when."""
    rows: list[Row] = [("project", entry.project)]
    for signer in entry.signers:
        rows += _shown(signer, entry)
    return Answer(
        known=True,
        name=entry.name,
        headline=f"signers {entry.name}",
        rows=tuple(rows),
        data={
            "kind": "signers",
            "entry": entry.name,
            "signers": [_data(signer) for signer in entry.signers],
        },
    )


def _shown(signer: Signer, entry: SignersEntry) -> Iterator[Row]:
    yield signer.name, _who(signer)
    yield "", f"may sign {', '.join(signer.predicates)}"
    if signer.project != entry.project:
        yield "", f"of {signer.project}"
    if window := _window(signer):
        yield "", window
    if revoked := signer.revoked:
        word = "compromised: nothing it signed counts" if revoked.compromised else "revoked"
        yield "", f"{word} · {print_time(revoked.at)} · {printable(revoked.reason)}"


def _who(signer: Signer) -> str:
    if signer.spki is not None:
        return f"{signer.scheme} key {sha256(signer.spki)}"
    return (
        f"identity {printable(signer.subject or '')}, logged in by {printable(signer.issuer or '')}"
    )


def _window(signer: Signer) -> str:
    ends = (("from", signer.valid_from), ("until", signer.valid_until))
    return " ".join(f"{word} {print_time(time)}" for word, time in ends if time is not None)


def _data(signer: Signer) -> dict[str, object]:
    """Return a row for programs; what it does not have is null."""
    key = signer.spki and {"scheme": signer.scheme, "id": sha256(signer.spki)}
    revoked = signer.revoked and {
        "at": print_time(signer.revoked.at),
        "reason": signer.revoked.reason,
        "compromised": signer.revoked.compromised,
    }
    return {
        "name": signer.name,
        "project": signer.project,
        "key": key,
        "identity": signer.issuer and {"issuer": signer.issuer, "subject": signer.subject},
        "predicates": list(signer.predicates),
        "validFrom": signer.valid_from and print_time(signer.valid_from),
        "validUntil": signer.valid_until and print_time(signer.valid_until),
        "revoked": revoked,
    }
