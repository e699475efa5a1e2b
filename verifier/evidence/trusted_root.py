"""Trusted roots: which keys of a Sigstore count, and from when until when.

Source: sigstore/protobuf-specs, `sigstore_trustroot.proto`. A period is a closed interval, and
its start is required (sigstore-conformance pull 406). The public good root is shipped as a dated
copy; no cache of the user is read (ARCHITECTURE §4).
"""

import re
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, Final, Self

from verifier.core.clock import print_time
from verifier.core.digest import sha256
from verifier.core.encoding import base64_in
from verifier.core.limits import DOCUMENT_BYTES
from verifier.core.strict import read_json
from verifier.core.table import MalformedError, Table
from verifier.core.value import frozen
from verifier.evidence.bundle import plain
from verifier.evidence.keys import PublicKey

_MEDIA: Final = "application/vnd.dev.sigstore.trustedroot+json;version=0.1"
_REMEDY: Final = "name a trusted_root.json of version 0.1, or leave --trusted-root out"
_TIME: Final = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{3}|\d{6}|\d{9}))?Z")
#: Where a root lists what, and where below an item its period is.
LISTS: Final = {
    "tlogs": "publicKey",
    "ctlogs": "publicKey",
    "certificateAuthorities": None,
    "timestampAuthorities": None,
}


@frozen
class Window:
    """A period, both ends included; `end` is None while a key is in use."""

    start: datetime
    end: datetime | None

    def holds(self, time: datetime) -> bool:
        """Whether `time` lies in it."""
        return self.start <= time and (self.end is None or time <= self.end)

    def __str__(self) -> str:
        """Print it for people."""
        until = f"until {print_time(self.end)}" if self.end else "on"
        return f"{print_time(self.start)} {until}"


@frozen
class Log:
    """A log of a root. `key` is None where its kind is not verified by our own code."""

    name: str
    id: bytes
    key: PublicKey | None
    window: Window


@frozen
class Authority:
    """An authority of a root: certificates in DER, the one that signs first, its root last."""

    name: str
    certificates: tuple[bytes, ...]
    window: Window


@frozen
class TrustedRoot:
    """A parsed trusted root; `name` is what reports call it, `sha256` the digest of its bytes."""

    name: str
    sha256: str
    logs: tuple[Log, ...]
    ct_logs: tuple[Log, ...]
    authorities: tuple[Authority, ...]
    timestamp_authorities: tuple[Authority, ...]
    data: bytes

    @classmethod
    def parse(cls, data: bytes, *, what: str, name: str) -> Self:
        """Read a root. Raises `MalformedError` naming every mistake by its path."""
        try:
            value = plain(read_json(data, limit=DOCUMENT_BYTES))
        except ValueError as error:
            raise MalformedError(what, [str(error)], remedy=_REMEDY) from None
        table = Table(value, what=what, remedy=_REMEDY)
        table.text("mediaType", choices=[_MEDIA])
        root = cls(
            name=name,
            sha256=sha256(data),
            logs=tuple(map(_log, table.tables("tlogs"))),
            ct_logs=tuple(map(_log, table.tables("ctlogs"))),
            authorities=tuple(map(_authority, table.tables("certificateAuthorities"))),
            timestamp_authorities=tuple(map(_authority, table.tables("timestampAuthorities"))),
            data=data,
        )
        table.done()
        return root

    def log(self, log_id: bytes) -> Log | None:
        """Return the log of an id, None if this root has no such."""
        return next((log for log in self.logs if log.id == log_id), None)

    def document(self) -> dict[str, Any]:
        """Return what was read, for the library that reads it once more."""
        value: dict[str, Any] = read_json(self.data, limit=DOCUMENT_BYTES)
        return value

    def windows(self) -> dict[str, tuple[Window, ...]]:
        """Return the period of every item, by the lists of the document."""
        return {
            "tlogs": tuple(log.window for log in self.logs),
            "ctlogs": tuple(log.window for log in self.ct_logs),
            "certificateAuthorities": tuple(each.window for each in self.authorities),
            "timestampAuthorities": tuple(each.window for each in self.timestamp_authorities),
        }


def _log(table: Table) -> Log:
    public, log_id = table.table("publicKey"), table.table("logId")
    public.text("keyDetails")
    spki = base64_in(public, "rawBytes")
    try:
        key = PublicKey.der(spki)
    except ValueError:  # such as RSA, of a log that is no longer written to
        key = None
    log = Log(
        name=table.text("baseUrl"),
        id=base64_in(log_id, "keyId"),
        key=key,
        window=_window(public),
    )
    table.text("hashAlgorithm", default="SHA2_256")
    table.optional_text("operator")
    checkpoint = table.optional_table("checkpointKeyId")
    if checkpoint:
        base64_in(checkpoint, "keyId")
        checkpoint.close()
    for each in (public, log_id, table):
        each.close()
    return log


def _authority(table: Table) -> Authority:
    subject, chain = table.optional_table("subject"), table.table("certChain")
    if subject:
        for key in ("organization", "commonName"):
            if subject.has(key):
                subject.string(key)
        subject.close()
    certificates = chain.tables("certificates")
    authority = Authority(
        name=table.text("uri", default="without an address"),
        certificates=tuple(base64_in(each, "rawBytes") for each in certificates),
        window=_window(table),
    )
    if not certificates:
        chain.mistake("certificates", "is empty")
    table.optional_text("operator")
    for each in (*certificates, chain, table):
        each.close()
    return authority


def _window(table: Table) -> Window:
    valid = table.table("validFor")
    start = _time(valid, "start")
    end = _time(valid, "end") if valid.has("end") else None
    if end is not None and end < start:
        valid.mistake("end", "lies before the start")
    valid.close()
    return Window(start=start, end=end)


def _time(table: Table, key: str) -> datetime:
    """Read a time of protobuf: RFC 3339 with Z, and 0, 3, 6 or 9 digits of a second's fraction."""
    text = table.text(key)
    found = _TIME.fullmatch(text)
    if found is not None:
        fraction = (found[2] or "")[:6].ljust(6, "0")
        with suppress(ValueError):  # such as a 30th of February
            return datetime.fromisoformat(f"{found[1]}.{fraction}").replace(tzinfo=UTC)
    if text:
        table.mistake(key, "is not a time as 2026-11-29T00:00:00Z")
    return datetime.max.replace(tzinfo=UTC)
